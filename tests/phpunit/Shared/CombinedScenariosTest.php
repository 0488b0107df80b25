<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Store\CombinedStore;
use Latch\Tests\Support\Combined\Scenarios;
use Latch\Tests\Support\Peer;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

/**
 * A combined store answers and logs as Symfony's does, and asks its members in PHP and strategies of the
 * user's in Symfony's order and number, whatever they answer: thousands of scenarios, played here and by
 * pure PHP Symfony.
 */
#[Group('against-oracle')]
final class CombinedScenariosTest extends TestCase
{
    /**
     * @return iterable<string, array{string}>
     */
    public static function members(): iterable
    {
        $refusesNone = (new \ReflectionClass(CombinedStore::class))->getName() === 'Latch\Store\CombinedStore';
        foreach (Scenarios::MEMBERS as $members) {
            if ($members === 'none' && $refusesNone) {
                continue;
            }
            yield $members => [$members];
        }
    }

    #[DataProvider('members')]
    public function testItIsSymfonys(string $members): void
    {
        $expected = $this->askSymfony($members);
        $actual = Scenarios::play($members);

        foreach ($expected as $scenario => $lines) {
            self::assertSame($lines, $actual[$scenario] ?? null, "$members: $scenario");
        }
        self::assertSame(array_keys($expected), array_keys($actual));
    }

    /**
     * @return array<string, list<string>>
     */
    private function askSymfony(string $members): array
    {
        $command = [...Peer::php(), __DIR__ . '/../peer/combined-scenarios.php', $members];
        $process = proc_open($command, [1 => ['pipe', 'w']], $pipes);
        self::assertIsResource($process);
        $output = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process));

        return json_decode($output, true, 16, \JSON_THROW_ON_ERROR);
    }
}
