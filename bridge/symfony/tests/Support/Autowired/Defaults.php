<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support\Autowired;

use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\SyncFactory;

final class Defaults
{
    public function __construct(
        public readonly LockFactory $locks,
        public readonly SyncFactory $sync,
        public readonly SemaphoreFactory $semaphores,
    ) {
    }
}
