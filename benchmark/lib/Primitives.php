<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require_once __DIR__ . '/../../tests/utils/redis.inc';

/**
 * The measurements of `benchmark/run primitives`: counting semaphores, and a count-down, in a Redis server on this
 * machine.
 *
 * Collects the raw numbers; what they come to is PrimitivesReport's business.
 */
final class Primitives
{
    /** Of a semaphore for which many contend. */
    public const PERMITS = 4;
    public const PROCESSES = 32;
    private const CONTENTION_SECONDS = 8;
    /** Hand-offs of a lock and of a permit take turns, in so many rounds of so many. */
    private const HANDOFF_ROUNDS = 9;
    private const HANDOFFS = 12;
    private const COUNT_DOWNS = 108;

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds)
    {
        $this->programs = new Programs('posix', 'igbinary', 'redis');
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $costs = $this->permits(Programs::quietProcessor(), PermitCosts::PERMITS);

        return [
            'rounds' => $this->rounds,
            'apart' => $this->permits(Programs::otherProcessor(), [0]),
            'handoff_ns' => $this->handOff(),
            'end_ns' => $this->endOfCountDown(),
            'contention' => $this->contention(),
        ] + $costs;
    }

    /**
     * @param int       $processor the server's
     * @param list<int> $permits   of PermitCosts::PERMITS
     *
     * @return array<string, mixed>
     */
    private function permits(int $processor, array $permits): array
    {
        $server = new RedisServer();
        Programs::pin($server->pid(), $processor);
        Command::say("semaphores in Redis on processor $processor, $this->rounds rounds");

        return $this->programs->part('permits', true, $this->rounds, $server->dsn(), implode(',', $permits));
    }

    /** @return array<string, list<float>> of a lock and of a semaphore's only permit, each by its one waiter */
    private function handOff(): array
    {
        Command::say('hand-off of a lock and of a permit');
        $servers = ['lock' => new RedisServer(), 'permit' => new RedisServer()];
        $stores = ['lock' => 'redis', 'permit' => 'redis permits 1'];
        $measured = ['lock' => [], 'permit' => []];
        for ($round = 0; $round < self::HANDOFF_ROUNDS; ++$round) {
            foreach ($stores as $what => $store) {
                $drains = $this->programs->part(
                    'drain',
                    false,
                    $store,
                    $servers[$what]->dsn(),
                    Subject::Latch->value,
                    1,
                    self::HANDOFFS,
                    0,
                    Queues::PHASES_US,
                );
                $measured[$what] = [...$measured[$what], ...array_merge(...$drains)];
            }
            $stores = array_reverse($stores);
        }

        return $measured;
    }

    /** @return list<float> from the last arrival to who awaits it */
    private function endOfCountDown(): array
    {
        Command::say('last arrival at a count-down');
        $server = new RedisServer();

        return $this->programs->part('count_down', false, $server->dsn(), self::COUNT_DOWNS, Queues::PHASES_US);
    }

    /** @return array<string, mixed> how often each of many processes had one of few permits */
    private function contention(): array
    {
        Command::say(sprintf('%d processes, %d permits', self::PROCESSES, self::PERMITS));
        $server = new RedisServer();
        $store = 'redis permits ' . self::PERMITS;
        $numbers = [self::PROCESSES, 0, 0];

        return $this->programs->part(
            'saturate',
            false,
            $store,
            $server->dsn(),
            Queues::SATURATED_US,
            self::CONTENTION_SECONDS,
            0,
            ...$numbers,
        );
    }
}
