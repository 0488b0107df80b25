<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Store\RedisStore;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Tests\Message\Locked;
use Symfony\Component\DependencyInjection\Attribute\Autowire;
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
        #[Autowire('%kernel.project_dir%')] private readonly string $directory,
        #[Autowire(service: 'latch.store.default')] private readonly object $store,
    ) {
    }

    public function __invoke(string $action): Response
    {
        match ($action) {
            'nothing' => null,
            'locks' => $this->useLocks(),
            'contended' => $this->waitForALock(),
            default => throw new \DomainException("There is no page $action."),
        };

        return new Response("<html><head><title>$action</title></head><body><h1>$action</h1></body></html>");
    }

    /** One that somebody has who then looks for the file "waits". */
    private function waitForALock(): void
    {
        touch("$this->directory/waits");
        $busy = $this->locks->createLock('busy', 30.0);
        $busy->acquire(true, 30.0);
        usleep(40_000);
        $busy->release();
        $this->useLocks();
        $this->loseALock();
    }

    /** In Redis, by somebody who takes it away. */
    private function loseALock(): void
    {
        \assert($this->store instanceof RedisStore);
        $lost = $this->locks->createLock('lost', 0.3)->keepAlive();
        $lost->acquire();
        usleep(20_000);
        $this->store->forceRelease(new Key('lost'), array_column($this->store->inspect(new Key('lost'))['holders'], 'id'));
        for ($end = microtime(true) + 10; $lost->isHeld() && microtime(true) < $end;) {
            usleep(5_000);
        }
        $lost->release();
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
