<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Redis as PhpRedis;
use RuntimeException;

/**
 * What servers have to do, by their own counters; of several their sum.
 */
final class RedisCounters
{
    /** Iterations of which is counted: what a batch does besides disappears in them. */
    private const COUNTED = 1_000;
    /** Bytes of the note that is left with a lock, as in raw/redis_keys.h. */
    private const NOTE = 72;

    /** @var list<PhpRedis> */
    private readonly array $observers;

    public function __construct(RedisAddress ...$servers)
    {
        $this->observers = array_map(
            static fn (RedisAddress $server): PhpRedis => $server->connect(),
            array_values($servers),
        );
        // What this host and this process are called must not matter.
        $rest = self::NOTE - strlen(gethostname() . ' ' . getmypid() . ' ');
        ini_set('latch.holder_name', str_repeat('x', max(1, $rest)));
    }

    /** @return array<string, string> which software it is */
    public function software(): array
    {
        return [
            'redis-server' => $this->observers[0]->info('server')['redis_version'],
            'phpredis' => (string) phpversion('redis'),
            'hiredis' => trim((string) shell_exec('pkg-config --modversion hiredis')),
        ];
    }

    /**
     * For one iteration.
     *
     * @return array<string, float>
     */
    public function count(Closure $run): array
    {
        $before = $this->read();
        $run(self::COUNTED);
        $counted = [];
        foreach ($this->read() as $what => $number) {
            $counted[$what] = ($number - $before[$what]) / self::COUNTED;
        }

        return $counted;
    }

    /**
     * A program in C is a measure for Latch only if it sends what Latch sends.
     *
     * @param array<string, array<string, array<string, float>>> $requests by row and subject
     */
    public static function demandTheSame(array $requests): void
    {
        foreach ($requests as $row => ['latch' => $latch, 'c' => $c]) {
            foreach (['requests', 'bytes'] as $what) {
                // What reads the counters is counted, too.
                if (abs($latch[$what] - $c[$what]) >= 1) {
                    throw new RuntimeException("$row: $what of Latch $latch[$what], in C $c[$what].");
                }
            }
        }
    }

    /** @return array<string, int> */
    private function read(): array
    {
        $sum = ['requests' => 0, 'reads' => 0, 'bytes' => 0, 'commands' => 0, 'server_us' => 0];
        foreach ($this->observers as $observer) {
            $stats = $observer->info('stats');
            $sum['reads'] += (int) $stats['total_reads_processed'];
            $sum['bytes'] += (int) $stats['total_net_input_bytes'];
            $sum['commands'] += (int) $stats['total_commands_processed'];
            foreach ($observer->info('commandstats') as $command => $numbers) {
                // The only commands that are sent; all others are the scripts'.
                if ($command === 'cmdstat_eval' || $command === 'cmdstat_evalsha') {
                    sscanf($numbers, 'calls=%d,usec=%d', $calls, $microseconds);
                    $sum['requests'] += $calls;
                    $sum['server_us'] += $microseconds;
                }
            }
        }

        return $sum;
    }
}
