<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Latch\Lock;
use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Tests\Message\Locked;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\Lock\LockFactory as FrameworkFactory;
use Symfony\Component\Messenger\MessageBusInterface;

/**
 * Pages of the application with the profiler.
 */
final class LockPages
{
    public function __construct(
        private readonly LockFactory $locks,
        private readonly SemaphoreFactory $localSemaphoreFactory,
        private readonly LockFactory $localLockFactory,
        private readonly FrameworkFactory $frameworkLocks,
        private readonly MessageBusInterface $bus,
    ) {
    }

    public function __invoke(string $action): Response
    {
        match ($action) {
            'nothing' => null,
            'locks' => $this->useLocks(),
            default => throw new \DomainException("There is no page $action."),
        };

        return new Response("<html><head><title>$action</title></head><body><h1>$action</h1></body></html>");
    }

    private function useLocks(): void
    {
        $framework = $this->frameworkLocks->createLock('invoice-9', 30.0);
        $framework->acquire();
        $order = $this->locks->createLock('order-<42>', 30.0);
        $order->acquireRead();
        usleep(20_000);
        $report = $this->localLockFactory->createLock('report', 30.0);
        $report->acquire();
        $again = $this->localLockFactory->createLock('report', 30.0);
        try {
            $again->acquire(true, 0.1);
        } catch (\Latch\Exception\LockConflictedException) {
        }
        $report->release();
        $permit = $this->localSemaphoreFactory->createSemaphore('mails', 3);
        $permit->acquire();
        $this->bus->dispatch(new Locked(7), [new Limit(2, 'api')]);
        $item = $this->locks->createLock('item-8');
        $item->acquire();
        try {
            $this->bus->dispatch(new Locked(8));
        } catch (\RuntimeException) {
        }
        $item->release();
        $permit->release();
        $order->release();
        $framework->release();
        $this->keep = $this->locks->createLock('kept', 30.0);
        $this->keep->acquire();
    }

    private ?Lock $keep = null;
}
