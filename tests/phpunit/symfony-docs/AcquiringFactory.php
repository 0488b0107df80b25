<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\SharedLockInterface;

/** Makes locks that are acquired already, for an example that leaves this out. */
final class AcquiringFactory extends LockFactory
{
    public function __construct(PersistingStoreInterface $store, private readonly LockFactory $factory)
    {
        parent::__construct($store);
    }

    public function createLock(string $resource, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface
    {
        $lock = $this->factory->createLock($resource, $ttl, $autoRelease);
        $lock->acquire();

        return $lock;
    }
}
