<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Key;
use Latch\Lock;
use Latch\SharedLockStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\RedisStore;
use Latch\Tests\Fault\Record\Teller;

/**
 * The extension, in a folder or on a server.
 */
final class LatchSubject implements Subject
{
    private const ON_SERVER = [Teller::EXPIRING, Teller::FENCING, Teller::LATE_RELEASE, Teller::FIRST_COME];

    private readonly SharedLockStoreInterface $store;
    private readonly bool $onServer;

    /** @param string $where a folder, or the DSN of a server */
    public function __construct(string $where)
    {
        $this->onServer = str_contains($where, ':');
        $this->store = $this->onServer ? new RedisStore($where) : new FlockStore($where);
    }

    public function traits(): array
    {
        return $this->onServer ? self::ON_SERVER : [];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        return new LatchHandle(new Lock(new Key($resource), $this->store, $ttl, $autoRelease), $this->onServer);
    }

    public function recover(): void
    {
    }
}
