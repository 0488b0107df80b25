<?php

declare(strict_types=1);

namespace App\Handler;

use App\Journal;
use App\Message\Message;
use App\Messenger\Locks;
use App\Messenger\Sending;
use Doctrine\DBAL\Connection;
use Latch\Symfony\Messenger\HandlerLocks;
use Symfony\Component\DependencyInjection\Attribute\Autowire;
use Symfony\Component\Messenger\Exception\RecoverableMessageHandlingException;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;

/**
 * What a message's handler does: its steps, each with the name of a method here and its arguments.
 */
final class Steps
{
    private int $try = 0;

    public function __construct(
        private readonly Journal $journal,
        private readonly Gates $gates,
        private readonly Locks $locks,
        private readonly HandlerLocks $handlerLocks,
        private readonly Sending $sending,
        #[Autowire(service: 'doctrine.dbal.shop_connection')] private readonly Connection $shop,
    ) {
    }

    public function run(Message $message): void
    {
        $this->journal->write('begin', $message->name);
        $try = $this->gates->nextTry($message->name);
        try {
            foreach ($message->steps as $step) {
                $this->try = $try;
                $this->{$step[0]}($message, ...\array_slice($step, 1));
            }
        } catch (\Throwable $e) {
            $this->journal->write('thrown', $message->name, ['text' => $e->getMessage()]);
            throw $e;
        }
        $this->journal->write('end', $message->name);
    }

    /** Waits until the test opens it; "try N" is that of the Nth try. */
    private function gate(Message $message, string $gate): void
    {
        $this->gates->pass(str_replace('try N', "try $this->try", $gate), $message->name);
    }

    private function pause(Message $message, int $ms): void
    {
        usleep($ms * 1000);
    }

    /** Fails; with a number only the first so many tries. */
    private function fail(Message $message, int $tries = \PHP_INT_MAX): void
    {
        if ($this->try <= $tries) {
            throw new \RuntimeException("$message->name fails.");
        }
    }

    private function failForGood(Message $message): void
    {
        throw new UnrecoverableMessageHandlingException("$message->name fails for good.");
    }

    /**
     * Dispatches another message.
     *
     * @param array<string, mixed> $order
     */
    private function send(Message $message, array $order): void
    {
        $this->journal->write('dispatched', $order['name'], $this->sending->send($order)->told());
    }

    /**
     * The same, and goes on when that fails.
     *
     * @param array<string, mixed> $order
     */
    private function trySend(Message $message, array $order): void
    {
        try {
            $this->send($message, $order);
        } catch (\Throwable $e) {
            $this->journal->write('caught', $order['name'], ['text' => $e->getMessage()]);
        }
    }

    /** A lock of the handler's own, which ends after the transaction. */
    private function lock(Message $message, string $resource): void
    {
        $lock = $this->locks->create($resource);
        if (!$lock->acquire()) {
            throw new \RuntimeException("$resource is locked.");
        }
        $this->handlerLocks->releaseAfter($message, $lock);
    }

    /** What is written without the bundle: the message comes again when somebody has the lock. */
    private function lockOrComeAgain(Message $message, string $resource): void
    {
        $lock = $this->locks->create($resource);
        if (!$lock->acquire()) {
            // before Symfony 7.2 its delay is the transport's
            $delay = method_exists(RecoverableMessageHandlingException::class, 'getRetryDelay') ? ['retryDelay' => 30] : [];
            throw new RecoverableMessageHandlingException("$resource is locked.", ...$delay);
        }
        $lock->release();
    }

    /** Opens an account unless there is one; between the question and the answer is a gate. */
    private function openAccount(Message $message, string $owner, string $gate): void
    {
        if ((int) $this->shop->fetchOne('SELECT count(*) FROM account WHERE owner = ?', [$owner]) > 0) {
            $this->journal->write('exists', $message->name);

            return;
        }
        $this->gates->pass($gate, $message->name);
        $this->shop->insert('account', ['owner' => $owner]);
    }
}
