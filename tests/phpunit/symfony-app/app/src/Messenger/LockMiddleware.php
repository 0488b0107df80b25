<?php

declare(strict_types=1);

namespace App\Messenger;

use App\Message\HandledAtOnce;
use Psr\Log\LoggerInterface;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\SharedLockInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\RecoverableMessageHandlingException;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ReceivedStamp;

/**
 * Locks what a message says that it needs, for as long as it is handled. When a handler dispatches another
 * message that needs the same, the lock is there already and only begins its time anew.
 */
final class LockMiddleware implements MiddlewareInterface
{
    /** @var array<string, SharedLockInterface> */
    private array $locks = [];

    public function __construct(
        private readonly LockFactory $factory,
        private readonly LoggerInterface $logger,
    ) {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $message = $envelope->getMessage();
        if (!$message instanceof HandledAtOnce && $envelope->last(ReceivedStamp::class) === null) {
            return $stack->next()->handle($envelope, $stack);
        }
        $stamp = $envelope->last(LockStamp::class);
        $taken = [];
        try {
            foreach ($stamp === null ? Locked::of($message) : [$stamp->locked] as $locked) {
                $resource = $locked->resource($message);
                if (isset($this->locks[$resource])) {
                    $this->locks[$resource]->refresh();
                } else {
                    $this->locks[$resource] = $this->acquire($resource, $locked);
                    $taken[] = $resource;
                }
            }

            return $stack->next()->handle($envelope, $stack);
        } catch (LockConflictedException $e) {
            throw new RecoverableMessageHandlingException($e->getMessage(), 0, $e);
        } finally {
            foreach (array_reverse($taken) as $resource) {
                $this->locks[$resource]->release();
                unset($this->locks[$resource]);
            }
        }
    }

    private function acquire(string $resource, Locked $locked): SharedLockInterface
    {
        $this->logger->info("app: $resource is wanted");
        $lock = $this->factory->createLock($resource, $locked->ttl);
        if (!($locked->read ? $lock->acquireRead($locked->blocking) : $lock->acquire($locked->blocking))) {
            throw new LockConflictedException("$resource is in use");
        }

        return $lock;
    }
}
