<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

final class LaravelHandle extends PolledHandle
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

    /** Redis cuts its time to milliseconds: locks end so much before their TTL; in ns. */
    private const ROUNDING = 1_000_000;

    private readonly string $owner;

    public function __construct(
        private readonly \Redis $redis,
        private readonly string $resource,
        private readonly int $ttl,
        bool $autoRelease,
    ) {
        parent::__construct($autoRelease);
        $this->owner = bin2hex(random_bytes(8));
    }

    protected function take(): bool
    {
        return $this->redis->set($this->resource, $this->owner, ['NX', 'PX' => $this->ttl]) === true;
    }

    protected function renew(int $end): bool
    {
        return $this->ask(self::REFRESH, [(string) $this->ttl]) === 1;
    }

    protected function giveBack(): void
    {
        $this->ask(self::RELEASE, []);
    }

    protected function lifetime(): int
    {
        return $this->ttl * 1_000_000 - self::ROUNDING;
    }

    /** @param list<string> $arguments */
    private function ask(string $script, array $arguments): mixed
    {
        return $this->redis->eval($script, [$this->resource, $this->owner, ...$arguments], 1);
    }
}
