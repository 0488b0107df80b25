<?php

declare(strict_types=1);

namespace App\Messenger;

use Latch\LockFactory;
use Latch\LockInterface;
use Latch\Store\StoreFactory;
use Symfony\Component\DependencyInjection\Attribute\Autowire;

/**
 * The application's own locks, on the server that the rules use: whoever locks the same resource excludes them.
 */
final class Locks
{
    private ?LockFactory $factory = null;

    public function __construct(#[Autowire('%env(LATCH_DSN)%')] private readonly string $dsn)
    {
    }

    public function create(string $resource): LockInterface
    {
        return $this->factory()->createLock($resource, 30.0);
    }

    public function factory(): LockFactory
    {
        return $this->factory ??= new LockFactory(StoreFactory::createStore($this->dsn));
    }

    /** Whether somebody has it, be it this process. */
    public function isTaken(string $resource): bool
    {
        $lock = $this->create($resource);
        if (!$lock->acquire()) {
            return true;
        }
        $lock->release();

        return false;
    }
}
