<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Tests\Support\CallOrder\Scenarios;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * A store written in PHP is called by its methods in exactly Symfony's order and number, whatever it
 * throws, and so is the logger: some thirty thousand scenarios, played here and by pure PHP Symfony.
 */
#[Group('against-oracle')]
final class CallOrderTest extends TestCase
{
    /** @var array<string, array<string, array<string, list<string>>>> what Symfony did, by kind of store */
    private static array $expected = [];

    public static function tearDownAfterClass(): void
    {
        self::$expected = [];
    }

    /**
     * @return iterable<string, array{string, string}>
     */
    public static function scenarios(): iterable
    {
        foreach (Scenarios::STORES as $store) {
            foreach (Scenarios::SEQUENCES as $sequence) {
                yield "$store: $sequence" => [$store, $sequence];
            }
        }
    }

    #[DataProvider('scenarios')]
    public function testItIsSymfonys(string $store, string $sequence): void
    {
        $expected = self::expected($store)[$sequence];
        $actual = Scenarios::play($store, $sequence);

        foreach ($expected as $scenario => $lines) {
            self::assertSame($lines, $actual[$scenario] ?? null, "$store: $sequence; $scenario");
        }
        self::assertSame(array_keys($expected), array_keys($actual));
    }

    /**
     * @return array<string, array<string, list<string>>>
     */
    private static function expected(string $store): array
    {
        return self::$expected[$store] ??= (static function () use ($store): array {
            $command = [...Peer::php(), __DIR__ . '/../peer/call-order.php', $store];
            $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
            self::assertIsResource($process);
            $output = (string) stream_get_contents($pipes[1]);
            self::assertSame(0, proc_close($process));

            return json_decode($output, true, 16, \JSON_THROW_ON_ERROR);
        })();
    }
}
