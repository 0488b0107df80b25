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
    private const STORES = ['redis', 'flock', 'semaphore'];
    /** How many hand-offs at least in all rounds, by how many wait. */
    private const HANDOFFS = [1 => 100, 8 => 240, 32 => 320];
    private const SATURATED_US = 1_000;
    /** For how many seconds, by how many contend: each process's share shall come to some 100 holds. */
    private const SATURATED_SECONDS = [2 => 3, 8 => 4, 32 => 6];
    private const LONG_HOLD_US = 1_000_000;
    private const LONG_HOLD_PROCESSES = 8;
    /** Each of them has it twice: what it asks now and then, it asks. */
    private const LONG_HOLD_SECONDS = 2 * self::LONG_HOLD_PROCESSES;
    private const KILLED = 16;
    private const LEASES = 8;
    private const PEERS = ['latch' => 6, 'symfony' => 2];
    private const PEERS_SECONDS = 20;

    private readonly Programs $programs;
    /** @var list<string> */
    private readonly array $stores;

    /** @param list<string> $stores all when there are none */
    public function __construct(
        private readonly int $rounds,
        private readonly string $folder,
        array $stores,
    ) {
        $this->programs = new Programs('posix', 'sysvsem', 'igbinary', 'redis');
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
                'handoff_ns' => $this->handOff($store),
                'contention' => $this->contention($store),
                'killed_ns' => $this->killedWaiters($store),
            ];
        }
        if (in_array('redis', $this->stores, true)) {
            $measured['floor_ns'] = $this->floor();
            $measured['long_holds'] = $this->longHolds();
            $measured['lease_ns'] = $this->killedHolder();
            $measured['peers'] = $this->peers();
        }

        return $measured;
    }

    /** @return array<int, array<string, list<float>>> by number of waiters and subject */
    private function handOff(string $store): array
    {
        $latencies = [];
        foreach (self::HANDOFFS as $waiters => $handOffs) {
            Command::say("$store, hand-off, $waiters waiting");
            $drains = (int) ceil($handOffs / $waiters / $this->rounds);
            $latencies[$waiters] = $this->inTurns(
                fn (Subject $subject): array => array_merge(
                    ...$this->part('drain', $store, $subject->value, $waiters, $drains, 0),
                ),
            );
        }

        return $latencies;
    }

    /** @return list<float> what raw/redis_handoff.c measures, on one server */
    private function floor(): array
    {
        Command::say('redis, hand-off, in C');
        $server = new RedisServer();

        return $this->programs->raw(
            'redis_handoff',
            self::HANDOFFS[1],
            ...(new RedisAddress($server->dsn()))->parts(),
        );
    }

    /** @return array<int, array<string, array<string, mixed>>> by number of contenders and subject */
    private function contention(string $store): array
    {
        $contention = [];
        foreach (self::SATURATED_SECONDS as $processes => $seconds) {
            Command::say("$store, endless contention of $processes");
            foreach (Subject::cases() as $subject) {
                $contention[$processes][$subject->value]
                    = $this->saturate($store, $subject, $processes, self::SATURATED_US, $seconds);
            }
        }

        return $contention;
    }

    /** @return array<string, list<float>> the longest time without a holder in each round, by subject */
    private function killedWaiters(string $store): array
    {
        Command::say("$store, waiters are killed");
        $waiters = 2 * self::KILLED;

        // A queue with all of them before: then they have what they keep for further waits.
        return $this->inTurns(
            fn (Subject $subject): array
                => [max($this->part('drain', $store, $subject->value, $waiters, 2, self::KILLED)[1])],
        );
    }

    private function longHolds(): array
    {
        Command::say('redis, long holds');
        $measured = [];
        foreach (Subject::cases() as $subject) {
            $measured[$subject->value] = $this->saturate(
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
        foreach (Subject::cases() as $subject) {
            $delays[$subject->value] = $this->part('lease', 'redis', $subject->value, self::LEASES);
        }

        return $delays;
    }

    /** @return array<string, mixed> */
    private function peers(): array
    {
        Command::say('redis, Latch and Symfony together');
        ['latch' => $latch, 'symfony' => $symfony] = self::PEERS;
        $arguments = [$latch, $symfony, self::SATURATED_US, self::PEERS_SECONDS];
        $measured = $this->part('saturate', 'redis', ...$arguments);
        [$ofLatch, $ofSymfony] = array_chunk($measured['times_held'], $latch);

        return ['times_held' => ['latch' => $ofLatch, 'symfony' => $ofSymfony]] + $measured;
    }

    /** @return array<string, mixed> */
    private function saturate(string $store, Subject $subject, int $processes, int $holdUs, int $seconds): array
    {
        [$latch, $symfony] = $subject === Subject::Latch ? [$processes, 0] : [0, $processes];

        return $this->part('saturate', $store, $latch, $symfony, $holdUs, $seconds);
    }

    /**
     * Lets the subjects take turns, round after round.
     *
     * @param callable(Subject): list<float> $measure
     *
     * @return array<string, list<float>> by subject
     */
    private function inTurns(callable $measure): array
    {
        $measured = [];
        for ($round = 0; $round < $this->rounds; ++$round) {
            foreach (Subject::cases() as $subject) {
                $measured[$subject->value] = [...$measured[$subject->value] ?? [], ...$measure($subject)];
            }
        }

        return $measured;
    }

    /** Each part gets a server of its own: who has met Symfony's scripts on one reckons with its processes. */
    private function part(string $name, string $store, string|int ...$arguments): array
    {
        $server = $store === 'redis' ? new RedisServer() : null;

        return $this->programs->part($name, false, $store, $server?->dsn() ?? $this->folder, ...$arguments);
    }
}
