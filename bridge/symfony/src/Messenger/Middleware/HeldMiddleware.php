<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Middleware;

use Latch\Lock;
use Latch\Symfony\Messenger\Exception\LockLostException;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\HandlerLocks;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\HandledStamp;

/**
 * Looks at the locks after the handlers and before a transaction commits. Inside of the application's own middlewares.
 */
final class HeldMiddleware implements MiddlewareInterface
{
    public function __construct(private readonly Holds $holds, private readonly HandlerLocks $handlerLocks)
    {
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $result = $stack->next()->handle($envelope, $stack);
        if ($result->last(HandledStamp::class) !== null) {
            $this->assertHeld($envelope->getMessage());
        }

        return $result;
    }

    /**
     * @throws LockLostException
     */
    private function assertHeld(object $message): void
    {
        $attempt = $this->holds->current();
        if ($attempt?->message === $message) {
            foreach ($attempt->holds() as $hold) {
                $hold->assertHeld();
            }
        }
        foreach ($this->handlerLocks->of($message) as $lock) {
            if ($lock instanceof Lock && !$lock->isHeld()) {
                throw new LockLostException($lock->__debugInfo()['resource']);
            }
        }
    }
}
