<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Tests\Support\Peer;
use Latch\Tests\Support\Redis\Scenarios;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * A lock in Redis answers, logs, expires and lies on the server as pure PHP Symfony's does, on phpredis:
 * some eight hundred scenarios, played here and there.
 */
#[Group('against-oracle')]
final class RedisScenariosTest extends TestCase
{
    /** @var array<string, array<string, list<string>>> what Symfony did, by circumstance */
    private static ?array $expected = null;

    public static function tearDownAfterClass(): void
    {
        self::$expected = null;
    }

    /**
     * @return iterable<string, array{string}>
     */
    public static function circumstances(): iterable
    {
        foreach (Scenarios::CIRCUMSTANCES as $circumstance) {
            yield $circumstance => [$circumstance];
        }
    }

    #[DataProvider('circumstances')]
    public function testItIsSymfonys(string $circumstance): void
    {
        $port = Servers::fresh()->port;
        self::$expected ??= self::askSymfony($port);
        $actual = Scenarios::play($port, $circumstance);

        foreach (self::$expected[$circumstance] as $scenario => $lines) {
            self::assertSame($lines, $actual[$scenario] ?? null, "$circumstance: $scenario");
        }
        self::assertSame(array_keys(self::$expected[$circumstance]), array_keys($actual));
    }

    /**
     * @return array<string, array<string, list<string>>>
     */
    private static function askSymfony(int $port): array
    {
        $command = [...Peer::php(), __DIR__ . '/../peer/redis-scenarios.php', (string) $port];
        $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
        self::assertIsResource($process);
        $output = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process));

        return json_decode($output, true, 16, \JSON_THROW_ON_ERROR);
    }
}
