<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;

/**
 * Where doctrine_transaction would be.
 */
final class Transaction implements MiddlewareInterface
{
    /** @var list<string> */
    public array $log = [];

    /** @var (\Closure(): void)|null */
    public ?\Closure $atTheEnd = null;

    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        try {
            $result = $stack->next()->handle($envelope, $stack);
            $this->log[] = 'commit';

            return $result;
        } catch (\Throwable $e) {
            $this->log[] = 'rollback';
            throw $e;
        } finally {
            if ($this->atTheEnd !== null) {
                ($this->atTheEnd)();
            }
        }
    }
}
