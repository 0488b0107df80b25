<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require_once __DIR__ . '/../../tests/utils/redis.inc';

/**
 * The measurements of `benchmark/run handoff`: locks that many processes wait for.
 *
 * Collects the raw numbers; what they come to is HandOffReport's business.
 */
final class HandOff
{
    private const STORES = ['redis', 'flock', 'semaphore', 'shm'];
    private const LONG_HOLD_US = 1_000_000;
    private const LONG_HOLD_PROCESSES = 8;
    /** Each of them has it twice: what it asks now and then, it asks. */
    private const LONG_HOLD_SECONDS = 2 * self::LONG_HOLD_PROCESSES;
    private const KILLED = 16;
    private const LEASES = 8;
    private const PEERS = ['latch' => 6, 'symfony' => 2];
    private const PEERS_SECONDS = 20;

    private readonly Programs $programs;
    private readonly Queues $queues;
    /** @var list<string> */
    private readonly array $stores;

    /** @param list<string> $stores all when there are none */
    public function __construct(
        private readonly int $rounds,
        private readonly string $folder,
        array $stores,
    ) {
        $this->programs = new Programs('posix', 'sysvsem', 'igbinary', 'redis');
        $this->queues = new Queues($rounds, $this->part(...));
        $this->stores = $stores ?: self::STORES;
    }

    /** @return array<string, string> what is used besides, and its version */
    public function software(): array
    {
        $software = [];
        if (in_array('redis', $this->stores, true)) {
            $software['redis-server'] = (new RedisServer())->info('server')['redis_version'];
            $software['phpredis'] = $this->programs->version('redis');
        }
        if (in_array('flock', $this->stores, true)) {
            $software['file system'] = Machine::fileSystem($this->folder);
        }

        return $software;
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $measured = ['rounds' => $this->rounds];
        foreach ($this->stores as $store) {
            $measured['stores'][$store] = [
                'handoff_ns' => $this->queues->handOff($store),
                'contention' => $this->queues->contention($store),
                'killed_ns' => $this->killedWaiters($store),
            ];
        }
        if (isset($measured['stores']['flock'])) {
            // Whoever sleeps before it gives back wakes the others' processors; one that computes takes it again.
            $measured['stores']['flock']['computing'] = $this->queues->contention('flock', true);
        }
        if (in_array('redis', $this->stores, true)) {
            $measured['floor_ns'] = $this->floor();
            $measured['long_holds'] = $this->longHolds();
            $measured['lease_ns'] = $this->killedHolder();
            $measured['peers'] = $this->peers();
        }

        return $measured;
    }

    /** @return list<float> what raw/redis_handoff.c measures, on one server */
    private function floor(): array
    {
        Command::say('redis, hand-off, in C');
        $server = new RedisServer();

        return $this->programs->raw(
            'redis_handoff',
            Queues::HANDOFFS[1],
            ...(new RedisAddress($server->dsn()))->parts(),
        );
    }

    /** @return array<string, list<float>> the longest time without a holder in each round, by subject */
    private function killedWaiters(string $store): array
    {
        Command::say("$store, waiters are killed");
        $waiters = 2 * self::KILLED;

        // A queue with all of them before: then they have what they keep for further waits.
        return $this->queues->inTurns(
            $store,
            fn (Subject $subject): array
                => [max($this->part('drain', $store, $subject->value, $waiters, 2, self::KILLED, Queues::PHASES_US)[1])],
        );
    }

    private function longHolds(): array
    {
        Command::say('redis, long holds');
        $measured = [];
        foreach (Subject::ALIKE as $subject) {
            $measured[$subject->value] = $this->queues->saturate(
                'redis',
                $subject,
                self::LONG_HOLD_PROCESSES,
                self::LONG_HOLD_US,
                self::LONG_HOLD_SECONDS,
            );
        }

        return $measured;
    }

    /** @return array<string, list<float>> by subject */
    private function killedHolder(): array
    {
        Command::say('redis, holders are killed');
        $delays = [];
        foreach (Subject::ALIKE as $subject) {
            $delays[$subject->value] = $this->part('lease', 'redis', $subject->value, self::LEASES);
        }

        return $delays;
    }

    /** @return array<string, mixed> */
    private function peers(): array
    {
        Command::say('redis, Latch and Symfony together');
        ['latch' => $latch, 'symfony' => $symfony] = self::PEERS;
        $arguments = [Queues::SATURATED_US, self::PEERS_SECONDS, 0, $latch, $symfony, 0];
        $measured = $this->part('saturate', 'redis', ...$arguments);
        [$ofLatch, $ofSymfony] = array_chunk($measured['times_held'], $latch);

        return ['times_held' => ['latch' => $ofLatch, 'symfony' => $ofSymfony]] + $measured;
    }

    /** Each part gets a server of its own: who has met Symfony's scripts on one reckons with its processes. */
    private function part(string $name, string $store, string|int ...$arguments): array
    {
        $server = $store === 'redis' ? new RedisServer() : null;

        return $this->programs->part($name, false, $store, $server?->dsn() ?? $this->folder, ...$arguments);
    }
}
