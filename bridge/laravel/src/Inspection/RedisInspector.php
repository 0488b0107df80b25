<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

use Illuminate\Cache\RedisStore;
use Illuminate\Redis\Connections\Connection;
use Latch\Laravel\Redis\NativeStores;
use Latch\Store\RedisStringStore;

/**
 * Locks in Redis.
 *
 * @internal
 */
final class RedisInspector implements Inspector
{
    public function __construct(private readonly RedisStore $store, private readonly NativeStores $natives)
    {
    }

    public function held(bool $foreign): iterable
    {
        $prefix = $this->store->getPrefix();
        $found = [];
        foreach ($this->native()->listHeld() as $held) {
            if (str_starts_with($held['name'], $prefix)) {
                $name = substr($held['name'], \strlen($prefix));
                $found[$name] = true;
                yield self::of($held, $name);
            }
        }
        foreach ($foreign ? (new FrameworkKeys($this->connection(), $prefix))->find() : [] as $name => $remaining) {
            if (!isset($found[$name])) {
                yield new HeldLock((string) $name, remaining: $remaining);
            }
        }
    }

    public function find(string $name): ?HeldLock
    {
        $held = $this->native()->inspect(RedisStringStore::key($this->store->getPrefix() . $name, 'latch:locks'));

        return $held['holderCount'] > 0 ? self::of($held, $name) : null;
    }

    private function native(): RedisStringStore
    {
        return $this->natives->of($this->connection())
            ?? throw new CannotTell("its locks are Laravel's own: " . $this->natives->whyNot($this->connection()));
    }

    private function connection(): Connection
    {
        return $this->store->lockConnection();
    }

    /**
     * @param array{holders: list<array<string, mixed>>, waiters: int} $held
     */
    private static function of(array $held, string $name): HeldLock
    {
        $holder = $held['holders'][0] ?? [];

        return new HeldLock(
            $name,
            host: $holder['host'] ?? null,
            pid: $holder['pid'] ?? null,
            holder: $holder['script'] ?? null,
            since: $holder['since'] ?? null,
            remaining: $holder['remaining'] ?? null,
            waiters: $held['waiters'],
        );
    }
}
