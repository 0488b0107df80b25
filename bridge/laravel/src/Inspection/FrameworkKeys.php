<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

use Illuminate\Redis\Connections\Connection;
use Illuminate\Redis\Connections\PhpRedisClusterConnection;
use Illuminate\Redis\Connections\PhpRedisConnection;
use Illuminate\Redis\Connections\PredisClusterConnection;
use Illuminate\Support\Str;
use Latch\Laravel\Redis\PredisDsn;

/**
 * Keys whose names are those of the framework's locks, whoever has set them. One pass over the database finds them.
 *
 * @internal
 */
final class FrameworkKeys
{
    private const PATTERNS = ['laravel_unique_job:*', 'laravel-queue-overlap:*', 'framework/schedule-*', 'framework/command-*',
        'session:*'];

    /** Matches what any of the patterns does, for Redis, whose patterns know no alternatives. */
    private const COMMON = '[lfs][are][ras][ams][vei]*';

    /** Keys that the server visits at a time. */
    private const COUNT = 1000;

    /**
     * @param string $prefix of the cache
     */
    public function __construct(private readonly Connection $connection, private readonly string $prefix)
    {
    }

    /**
     * @return array<string, float|null> seconds until they expire by their names; null: never
     */
    public function find(): array
    {
        if ($this->connection instanceof PhpRedisClusterConnection || $this->connection instanceof PredisClusterConnection) {
            throw new CannotTell('--foreign is not for clusters');
        }
        $client = $this->connection->client();
        if (!$client instanceof \Redis || ($client->getOption(\Redis::OPT_SCAN) & \Redis::SCAN_PREFIX) === 0) {
            return $this->scan();
        }
        // phpredis puts the prefix before a pattern as it is, as if it were a pattern.
        $client->setOption(\Redis::OPT_SCAN, \Redis::SCAN_NOPREFIX);
        try {
            return $this->scan();
        } finally {
            $client->setOption(\Redis::OPT_SCAN, \Redis::SCAN_PREFIX);
        }
    }

    /**
     * @return array<string, float|null>
     */
    private function scan(): array
    {
        $start = $this->connection instanceof PhpRedisConnection && version_compare((string) phpversion('redis'), '6.1.0', '>=')
            ? null
            : '0';
        $cursor = $start;
        $match = addcslashes($this->connectionPrefix() . $this->prefix, '*?[]\\') . self::COMMON;
        $found = [];
        do {
            [$cursor, $keys] = $this->connection->scan($cursor, ['match' => $match, 'count' => self::COUNT]) ?: [$start, []];
            $found += $this->expiries(array_filter(array_map($this->name(...), $keys)));
        } while ((string) $cursor !== (string) $start && (string) $cursor !== '0');

        return $found;
    }

    /** Null: it is none of the framework's. */
    private function name(string $key): ?string
    {
        $name = substr($key, \strlen($this->connectionPrefix() . $this->prefix));

        return Str::is(self::PATTERNS, $name) ? $name : null;
    }

    /**
     * @param list<string> $names
     *
     * @return array<string, float|null>
     */
    private function expiries(array $names): array
    {
        $found = [];
        $milliseconds = $names === [] ? [] : $this->connection->pipeline(function (object $pipe) use ($names): void {
            foreach ($names as $name) {
                $pipe->pttl($this->prefix . $name);
            }
        });
        foreach (array_combine($names, $milliseconds) as $name => $rest) {
            // -2: it is gone; -1: it does not expire.
            if ($rest !== -2) {
                $found[$name] = $rest === -1 ? null : $rest / 1000;
            }
        }

        return $found;
    }

    private function connectionPrefix(): string
    {
        return $this->connection instanceof PhpRedisConnection
            ? (string) $this->connection->client()->_prefix('')
            : (string) PredisDsn::prefix($this->connection->client());
    }
}
