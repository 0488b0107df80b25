<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support\Autowired;

use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\SyncFactory;
use Symfony\Component\DependencyInjection\Attribute\Target;

final class Named
{
    public function __construct(
        public readonly LockFactory $default,
        public readonly LockFactory $ordersLockFactory,
        public readonly SyncFactory $ordersSyncFactory,
        public readonly SemaphoreFactory $ordersSemaphoreFactory,
        public readonly LockFactory $auditLogLockFactory,
        #[Target('orders')] public readonly LockFactory $targetLocks,
        #[Target('orders')] public readonly SyncFactory $targetSync,
        #[Target('orders')] public readonly SemaphoreFactory $targetSemaphores,
    ) {
    }
}
