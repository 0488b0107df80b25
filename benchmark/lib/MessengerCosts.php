<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;
use Latch\LockFactory;
use Latch\Store\StoreFactory;
use Psr\Log\NullLogger;
use RuntimeException;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;
use Symfony\Component\Messenger\Worker;

/**
 * What a message costs in Symfony's bus: with the bundle and without, without a rule and with a lock.
 *
 * Each subject has an application of its own, and its own connection where there is a server.
 */
final class MessengerCosts
{
    private const BATCH_NS = 10_000_000;
    public const WAYS = ['handled at once', 'sent to a transport', 'handled by a worker'];
    public const SUBJECTS = ['with', 'without'];
    /** The message with the rule; the same without the bundle, whose handler takes the lock; that lock alone. */
    public const LOCKED = ['rule', 'by-hand', 'alone'];

    /** @param array<string, string> $stores DSNs, by what they are called in the report */
    public function __construct(private readonly string $folder, private readonly array $stores)
    {
    }

    /** @return array<string, mixed> */
    public function measure(int $rounds): array
    {
        $subjects = [];
        foreach (self::WAYS as $way) {
            foreach (self::SUBJECTS as $subject) {
                $kernel = $this->kernel("$way $subject", $subject === 'with' ? 'in-memory' : null);
                $subjects["$way|$subject"] = match ($way) {
                    'handled at once' => self::atOnce($kernel, new Note(7)),
                    'sent to a transport' => self::sent($kernel),
                    'handled by a worker' => self::byWorker($kernel),
                };
            }
        }
        foreach ($this->stores as $store => $dsn) {
            foreach (self::LOCKED as $subject) {
                $subjects["$store|$subject"] = $this->locked("$store $subject", $subject, $dsn);
            }
        }
        $costs = [];
        // All in the same rounds: what a lock adds is the difference of two of them.
        foreach (Rounds::interleave($subjects, $rounds, self::BATCH_NS) as $name => $measured) {
            [$row, $subject] = explode('|', $name);
            $costs[$row][$subject] = $measured;
        }

        return ['costs_ns' => $costs, 'software' => ['symfony/messenger' => self::version()]];
    }

    /** @return Closure(int): float */
    private function locked(string $name, string $subject, string $dsn): Closure
    {
        if ($subject === 'alone') {
            return self::alone(self::factory($dsn));
        }
        $kernel = $this->kernel($name, $subject === 'rule' ? $dsn : null);
        $probe = self::factory($dsn)->createLock('order-7');
        if ($subject === 'by-hand') {
            $kernel->handler()->locks = self::factory($dsn);
        }
        $run = self::atOnce($kernel, new Order(7));
        if ($dsn !== 'in-memory') {
            self::demandThatItLocks($kernel, $probe);
        }

        return $run;
    }

    /** The same resource, held by another one, refuses the message; afterwards it is free again. */
    private static function demandThatItLocks(MessengerKernel $kernel, object $probe): void
    {
        $handled = $kernel->handler()->handled;
        $probe->acquire() || throw new RuntimeException('A message has left its lock behind.');
        if ($kernel->handler()->locks === null) {
            try {
                $kernel->bus()->dispatch(new Order(7));
            } catch (\RuntimeException) {
            }
            $kernel->handler()->handled === $handled || throw new RuntimeException('A message was handled without its lock.');
        }
        $probe->release();
    }

    /** As an application has it: with a logger. */
    private static function factory(string $dsn): LockFactory
    {
        $factory = new LockFactory(StoreFactory::createStore($dsn));
        $factory->setLogger(new NullLogger());

        return $factory;
    }

    /** @return Closure(int): float */
    private static function alone(LockFactory $factory): Closure
    {
        return self::timed(static function (int $iterations) use ($factory): void {
            for (; $iterations > 0; --$iterations) {
                $lock = $factory->createLock('order-7', MessageHandler::TTL);
                $lock->keepAlive();
                $lock->acquire();
                $lock->release();
            }
        });
    }

    /** @return Closure(int): float */
    private static function atOnce(MessengerKernel $kernel, object $message): Closure
    {
        $bus = $kernel->bus();
        $bus->dispatch($message);
        $kernel->handler()->handled === 1 || throw new RuntimeException('A message was not handled.');

        return self::timed(static function (int $iterations) use ($bus, $message): void {
            for (; $iterations > 0; --$iterations) {
                $bus->dispatch($message);
            }
        });
    }

    /** @return Closure(int): float */
    private static function sent(MessengerKernel $kernel): Closure
    {
        $bus = $kernel->bus();
        $queue = $kernel->queue();

        return static function (int $iterations) use ($bus, $queue): float {
            $begun = hrtime(true);
            self::send($bus, $iterations);
            $cost = (hrtime(true) - $begun) / $iterations;
            count($queue->getSent()) === $iterations || throw new RuntimeException('A message was not sent.');
            $queue->reset();

            return $cost;
        };
    }

    /**
     * @return Closure(int): float of the worker's part alone, from the transport to the acknowledgement; without what it
     *                             does when it is idle, such as the collection of garbage
     */
    private static function byWorker(MessengerKernel $kernel): Closure
    {
        $dispatcher = $kernel->dispatcher();
        $begun = $ended = 0;
        // Its start is not that of a message; after the other listeners.
        $dispatcher->addListener(WorkerStartedEvent::class, static function () use (&$begun): void {
            $begun = hrtime(true);
        }, -1000);
        $dispatcher->addListener(WorkerRunningEvent::class, static function (WorkerRunningEvent $event) use (&$ended): void {
            if ($event->isWorkerIdle()) {
                $event->getWorker()->stop();
            } else {
                $ended = hrtime(true);
            }
        });
        $queue = $kernel->queue();

        $run = static function (int $iterations) use ($kernel, $dispatcher, $queue, &$begun, &$ended): float {
            self::send($kernel->bus(), $iterations);
            (new Worker(['queue' => $queue], $kernel->bus(), $dispatcher))->run();
            $cost = ($ended - $begun) / $iterations;
            count($queue->getAcknowledged()) === $iterations || throw new RuntimeException('A message was not handled.');
            $queue->reset();

            return $cost;
        };
        // The first one loads classes, so that it would make all batches small.
        $run(1);

        return $run;
    }

    private static function send(MessageBusInterface $bus, int $number): void
    {
        $stamps = [new TransportNamesStamp(['queue'])];
        $message = new Note(7);
        for (; $number > 0; --$number) {
            $bus->dispatch($message, $stamps);
        }
    }

    /**
     * @param Closure(int): void $loop
     *
     * @return Closure(int): float
     */
    private static function timed(Closure $loop): Closure
    {
        return static function (int $iterations) use ($loop): float {
            $begun = hrtime(true);
            $loop($iterations);

            return (hrtime(true) - $begun) / $iterations;
        };
    }

    private function kernel(string $name, ?string $store): MessengerKernel
    {
        return new MessengerKernel($this->folder, strtr($name, ' -', '__'), $store);
    }

    private static function version(): string
    {
        $installed = require getenv('LATCH_APP_VENDOR') . '/composer/installed.php';

        return $installed['versions']['symfony/messenger']['pretty_version'];
    }
}
