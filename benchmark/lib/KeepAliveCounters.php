<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;
use RuntimeException;

/**
 * What a server that nobody else asks has to do for locks that are renewed.
 */
final class KeepAliveCounters
{
    /** @var array<string, int> */
    private array $before = [];

    public function __construct(private readonly RedisServer $server)
    {
    }

    public function begin(): void
    {
        $this->before = $this->read();
    }

    /** @return array<string, int> without what was read to know it */
    public function sinceBegun(): array
    {
        $since = [];
        foreach ($this->read() as $what => $number) {
            $since[$what] = $number - $this->before[$what];
        }
        --$since['reads']; // The one that tells.

        return $since;
    }

    /**
     * In how many bunches requests come for so long, by the server's MONITOR.
     *
     * @param int $time  in ns
     * @param int $pause what lies between two bunches at least, in ns
     */
    public function bunches(int $time, int $pause): int
    {
        $stream = stream_socket_client("tcp://127.0.0.1:{$this->server->port}", $number, $message)
            ?: throw new RuntimeException($message);
        fwrite($stream, "MONITOR\r\n");
        $end = hrtime(true) + $time;
        [$bunches, $last] = [0, 0.0];
        while (($left = intdiv($end - hrtime(true), 1_000)) > 0) {
            stream_set_timeout($stream, intdiv($left, 1_000_000), $left % 1_000_000);
            // "+1700000000.123456 [0 127.0.0.1:4711] "evalsha" …", what scripts call with "lua" for the address
            if (preg_match('/^\+(\d+\.\d+) \[\d+ [\d.]+:\d+\] "eval/i', (string) fgets($stream), $match) === 1) {
                $bunches += (int) ((float) $match[1] - $last > $pause / 1e9);
                $last = (float) $match[1];
            }
        }
        fclose($stream);

        return $bunches;
    }

    /** @return array<string, int> */
    private function read(): array
    {
        $info = $this->server->info('all');
        $read = [
            'requests' => 0,
            'reads' => (int) $info['total_reads_processed'],
            'bytes' => (int) $info['total_net_input_bytes'],
        ];
        foreach (['eval', 'evalsha'] as $command) {
            sscanf($info["cmdstat_$command"] ?? '', 'calls=%d', $calls);
            $read['requests'] += (int) $calls;
        }

        return $read;
    }
}
