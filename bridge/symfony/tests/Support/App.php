<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\SyncFactory;
use Symfony\Component\Clock\MockClock;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Event\WorkerMessageRetriedEvent;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Transport\InMemory\InMemoryTransport;
use Symfony\Component\Messenger\Worker;

/**
 * An application with transports and stores in memory, and workers that run until their transport is empty.
 *
 * Its transports are "a" and "b", in which messages are serialised, "n", in which they are not, "s", which is sync://, and
 * "f" of what has failed.
 */
final class App
{
    private readonly TestKernel $kernel;

    public readonly MockClock $clock;

    public readonly Handler $handler;

    /** @var list<string> what became of the messages of workers */
    public array $events = [];

    /**
     * @param array<class-string, string|list<string>> $routing
     * @param array<string, mixed>                     $latch
     * @param list<string>                             $middleware of the bus
     */
    public function __construct(array $routing = [], array $latch = [], array $middleware = [], ?\Closure $services = null)
    {
        $transport = ['dsn' => 'memory://serialized', 'retry_strategy' => ['max_retries' => 2, 'delay' => 1000]];
        $this->kernel = new TestKernel(
            ['stores' => ['default' => 'in-memory'], ...$latch],
            ['messenger' => [
                'transports' => [
                    'a' => $transport, 'b' => $transport, 'f' => $transport, 'n' => 'memory://', 's' => 'sync://',
                ],
                'failure_transport' => 'f',
                'routing' => $routing,
                'buses' => ['command.bus' => array_filter(['middleware' => $middleware])],
            ]],
            static function (ContainerBuilder $container) use ($services): void {
                $container->register('clock', MockClock::class)->setPublic(true);
                $container->register(InMemoryFactory::class, InMemoryFactory::class)
                    ->setArguments([new Reference('clock')])
                    ->addTag('messenger.transport_factory');
                $container->register(Handler::class, Handler::class)
                    ->setPublic(true)
                    ->addTag('messenger.message_handler', ['handles' => '*']);
                if ($services !== null) {
                    $services($container);
                }
            },
            shared: $services === null,
        );
        $this->kernel->boot();
        $this->clock = $this->service('clock');
        $this->handler = $this->service(Handler::class);
        $this->dispatcher()->addListener(WorkerMessageHandledEvent::class, fn ($e) => $this->note('handled', $e->getEnvelope()));
        $this->dispatcher()->addListener(WorkerMessageRetriedEvent::class, fn ($e) => $this->note('again', $e->getEnvelope()));
        $this->dispatcher()->addListener(WorkerMessageFailedEvent::class, function (WorkerMessageFailedEvent $event): void {
            if (!$event->willRetry()) {
                $this->note('failed', $event->getEnvelope());
            }
        }, -1000);
    }

    public function bus(): MessageBusInterface
    {
        return $this->service('command.bus');
    }

    public function locks(): LockFactory
    {
        return $this->service('latch.lock_factory.default');
    }

    public function permits(): SemaphoreFactory
    {
        return $this->service('latch.semaphore_factory.default');
    }

    public function sync(): SyncFactory
    {
        return $this->service('latch.sync_factory.default');
    }

    public function log(): Log
    {
        return $this->service('logger');
    }

    public function dispatcher(): EventDispatcherInterface
    {
        return $this->service('event_dispatcher');
    }

    public function transport(string $name): InMemoryTransport
    {
        return $this->service("messenger.transport.$name");
    }

    /**
     * Handles what is in the transport, until there is nothing, or nothing yet.
     *
     * @param int|null $messages at most
     */
    public function work(string $transport = 'a', ?int $messages = null): void
    {
        $this->workOn($transport, $this->transport($transport), $messages);
    }

    public function workOn(string $name, InMemoryTransport $transport, ?int $messages = null): void
    {
        $stop = static function (WorkerRunningEvent $event) use (&$messages): void {
            if ($event->isWorkerIdle() || $messages !== null && --$messages === 0) {
                $event->getWorker()->stop();
            }
        };
        $this->dispatcher()->addListener(WorkerRunningEvent::class, $stop);
        try {
            (new Worker([$name => $transport], $this->bus(), $this->dispatcher()))->run(['fetch_size' => 10]);
        } finally {
            $this->dispatcher()->removeListener(WorkerRunningEvent::class, $stop);
        }
    }

    /** Handles what is in the transport, with time for all delays. */
    public function workAll(string $transport = 'a', int $rounds = 50): void
    {
        for ($i = 0; $i < $rounds && $this->waiting($transport) > 0; $i++) {
            $this->work($transport);
            $this->clock->sleep(60);
        }
    }

    public function waiting(string $transport): int
    {
        return \count($this->transport($transport)->getSent()) - \count($this->transport($transport)->getAcknowledged())
            - \count($this->transport($transport)->getRejected());
    }

    public function isFree(string $resource): bool
    {
        $lock = $this->locks()->createLock($resource);
        $free = $lock->acquire();
        $lock->release();

        return $free;
    }

    private function note(string $what, Envelope $envelope): void
    {
        $retries = RedeliveryStamp::getRetryCountFromEnvelope($envelope);
        $this->events[] = "$what " . Handler::name($envelope->getMessage()) . ($what === 'again' ? " $retries" : '');
    }

    /**
     * @template S of object
     *
     * @param class-string<S> $id
     *
     * @return S
     */
    public function get(string $id): object
    {
        /** @var S */
        return $this->service($id);
    }

    /** @phpstan-ignore missingType.return */
    private function service(string $id)
    {
        return $this->kernel->getContainer()->get($id);
    }
}
