<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Tests\Fault\Record\Teller;

/**
 * What Laravel's RedisLock does, by phpredis on a server: SET key owner NX, and two scripts.
 */
final class LaravelSubject implements Subject
{
    /** It would wait for a lost answer for 60 s. */
    private const TIMEOUT = 5.0;

    private ?\Redis $redis = null;

    /** @param string $where redis://USER:PASSWORD@HOST:PORT */
    public function __construct(private readonly string $where)
    {
    }

    public function traits(): array
    {
        return [Teller::EXPIRING, Teller::EXCLUSIVE_ONLY];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $redis = $this->redis ??= SymfonyMember::connect($this->where, self::TIMEOUT);

        return new LaravelHandle($redis, $resource, (int) round($ttl * 1000), $autoRelease);
    }

    public function recover(): void
    {
        $this->redis = null;
    }
}
