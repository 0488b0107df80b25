<?php

declare(strict_types=1);

namespace App\Messenger;

use Symfony\Component\Lock\Key;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;

/**
 * Has the key that came with the message at hand while it is handled.
 */
final class HandedKeyMiddleware implements MiddlewareInterface
{
    private ?Key $key = null;

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        $this->key = $envelope->last(KeyStamp::class)?->key;
        try {
            return $stack->next()->handle($envelope, $stack);
        } finally {
            $this->key = null;
        }
    }

    public function key(): Key
    {
        return $this->key ?? throw new \LogicException('The message came without a key.');
    }
}
