<?php

declare(strict_types=1);

namespace App\Messenger;

use Symfony\Component\Lock\LockInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;

/**
 * Releases what a handler has locked, after the transaction around the handler.
 */
final class ReleaseLaterMiddleware implements MiddlewareInterface
{
    /** @var \WeakMap<object, list<LockInterface>> */
    private \WeakMap $locks;

    public function __construct()
    {
        $this->locks = new \WeakMap();
    }

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        try {
            return $stack->next()->handle($envelope, $stack);
        } finally {
            foreach ($this->locks[$envelope->getMessage()] ?? [] as $lock) {
                $lock->release();
            }
        }
    }

    public function releaseAfter(object $message, LockInterface $lock): void
    {
        $this->locks[$message] = [...$this->locks[$message] ?? [], $lock];
    }
}
