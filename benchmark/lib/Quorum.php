<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require_once __DIR__ . '/../../tests/utils/redis.inc';

/**
 * The measurements of `benchmark/run quorum`: locks that a majority of Redis servers on this machine grants.
 *
 * Collects the raw numbers; what they come to is QuorumReport's business.
 */
final class Quorum
{
    private const SIZES = [3, 5];
    private const TROUBLE_ROUNDS = 3;

    private readonly Programs $programs;

    public function __construct(private readonly int $rounds)
    {
        $this->programs = new Programs('igbinary', 'redis');
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $measured = ['rounds' => $this->rounds, 'software' => []];
        $processors = ['near' => Programs::quietProcessor(), 'apart' => Programs::otherProcessor()];
        foreach (self::SIZES as $size) {
            $servers = array_map(static fn (): RedisServer => new RedisServer(), range(1, $size));
            foreach (array_unique($processors) as $setting => $processor) {
                Command::say("a quorum of $size, $setting, $this->rounds rounds");
                foreach ($servers as $server) {
                    Programs::pin($server->pid(), $processor);
                }
                $dsns = array_map(static fn (RedisServer $server): string => $server->dsn(), $servers);
                $measured['settings'][$setting][$size] = $this->programs->part('quorum', true, $this->rounds, ...$dsns);
            }
        }
        $measured['software'] = $measured['settings']['near'][3]['software'];

        $trouble = new QuorumTrouble($this->programs);
        foreach (QuorumTrouble::KINDS as $kind) {
            foreach (Subject::ALIKE as $subject) {
                Command::say("one of three $kind, $subject->value");
                $rounds = min($this->rounds, self::TROUBLE_ROUNDS);
                $measured['trouble'][$kind][$subject->value] = $trouble->measure($subject, $kind, $rounds);
            }
        }

        return $measured;
    }
}
