<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

final class LaravelHandle implements Handle
{
    /** Illuminate\Cache\LuaScripts::releaseLock(), byte for byte: by its digest Latch knows Laravel. */
    private const RELEASE = <<<'LUA'
        if redis.call("get",KEYS[1]) == ARGV[1] then
            return redis.call("del",KEYS[1])
        else
            return 0
        end
        LUA;
    private const REFRESH = <<<'LUA'
        if redis.call("get",KEYS[1]) == ARGV[1] then
            return redis.call("pexpire",KEYS[1],ARGV[2])
        else
            return 0
        end
        LUA;

    /** Laravel's: 250 ms; sessions have 50. */
    private const POLL_US = 50_000;
    /** Redis cuts its time to milliseconds: locks end so much before their TTL; in ns. */
    private const ROUNDING = 1_000_000;

    private readonly string $owner;
    /** Until when it is certain, in ns; 0: it is not. */
    private int $end = 0;

    public function __construct(
        private readonly \Redis $redis,
        private readonly string $resource,
        private readonly int $ttl,
        private readonly bool $autoRelease,
    ) {
        $this->owner = bin2hex(random_bytes(8));
    }

    public function __destruct()
    {
        if ($this->autoRelease && $this->end !== 0) {
            $this->release();
        }
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        if ($this->end !== 0) {
            return $this->refresh(); // Laravel would refuse: the owner has it
        }
        $deadline = $wait === null ? \PHP_INT_MAX : hrtime(true) + (int) ($wait * 1e9);
        while (!$this->take()) {
            if (hrtime(true) >= $deadline) {
                return false;
            }
            usleep(max(0, min(self::POLL_US, intdiv($deadline - hrtime(true), 1000))));
        }

        return true;
    }

    public function waiting(): Waiting
    {
        return Waiting::AsToldToTake;
    }

    public function isCertain(): bool
    {
        return hrtime(true) < $this->end;
    }

    public function refresh(): bool
    {
        return $this->count(fn (): bool => $this->ask(self::REFRESH, [(string) $this->ttl]) === 1);
    }

    public function release(): void
    {
        $this->end = 0;
        $this->ask(self::RELEASE, []);
    }

    public function fencingToken(): ?int
    {
        return null;
    }

    private function take(): bool
    {
        return $this->count(
            fn (): bool => $this->redis->set($this->resource, $this->owner, ['NX', 'PX' => $this->ttl]) === true
        );
    }

    /** @param \Closure(): bool $request that has the lock from then on for the TTL, if it is granted */
    private function count(\Closure $request): bool
    {
        $this->end = 0; // also when it fails
        $sent = hrtime(true);
        $granted = $request();
        $this->end = $granted ? $sent + $this->ttl * 1_000_000 - self::ROUNDING : 0;

        return $granted;
    }

    /** @param list<string> $arguments */
    private function ask(string $script, array $arguments): mixed
    {
        return $this->redis->eval($script, [$this->resource, $this->owner, ...$arguments], 1);
    }
}
