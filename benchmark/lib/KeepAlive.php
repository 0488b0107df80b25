<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * The measurements of `benchmark/run keepalive`: what it costs to renew locks in a Redis server on this machine.
 *
 * Collects the raw numbers; what they come to is KeepAliveReport's business.
 */
final class KeepAlive
{
    /** In s. */
    private const TTLS = [2, 10, 30];
    private const LOCKS = [1, 100, 1_000];
    /** A part may not take longer. */
    private const MOST_ROUNDS = 5;

    private readonly Programs $programs;

    private readonly int $rounds;

    public function __construct(int $rounds)
    {
        $this->rounds = min($rounds, self::MOST_ROUNDS);
        $this->programs = new Programs();
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $none = $this->part(self::TTLS[0], 0);
        $measured = ['rounds' => $this->rounds, 'software' => $none['software'], 'none' => $none];
        foreach (self::TTLS as $ttl) {
            foreach (self::LOCKS as $locks) {
                $measured['kept'][$ttl][$locks] = $this->part($ttl, $locks);
            }
        }

        return $measured;
    }

    /** @return array<string, mixed> */
    private function part(int $ttl, int $locks): array
    {
        Command::say("$locks locks with a TTL of $ttl s, kept alive for $this->rounds thirds of it");

        return $this->programs->part('keepalive', false, $ttl, $locks, $this->rounds);
    }
}
