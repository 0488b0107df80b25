<?php

/** @generate-class-entries */

namespace Latch\Semaphore\Exception;

/** Implemented by everything that semaphores throw. */
interface ExceptionInterface extends \Throwable
{
}

/** An argument is out of its range; the message names it. */
class InvalidArgumentException extends \InvalidArgumentException implements ExceptionInterface
{
}

/** A call of Semaphore has failed; the message has the reason, getPrevious() what the store threw. */
class RuntimeException extends \RuntimeException implements ExceptionInterface
{
}

/** The permits could not be had: others hold too many of them. */
class SemaphoreAcquiringException extends \RuntimeException implements ExceptionInterface
{
    /** @param string $message the reason, a clause without a full stop */
    public function __construct(\Latch\Semaphore\Key $key, string $message, ?\Throwable $previous = null) {}
}

/** The permits ran out, or were lost, before the call could end. */
class SemaphoreExpiredException extends \RuntimeException implements ExceptionInterface
{
    private mixed $result = null;

    /** @param string $message the reason, a clause without a full stop */
    public function __construct(\Latch\Semaphore\Key $key, string $message, ?\Throwable $previous = null) {}

    /**
     * What the callback of Semaphore::synchronized() returned, whose permits were lost before it did; null of
     * what others throw.
     *
     * @implementation-alias Latch\Exception\LockExpiredException::getResult
     */
    public function getResult(): mixed {}
}

/** The permits could not be given back. */
class SemaphoreReleasingException extends \RuntimeException implements ExceptionInterface
{
    /** @param string $message the reason, a clause without a full stop */
    public function __construct(\Latch\Semaphore\Key $key, string $message, ?\Throwable $previous = null) {}
}

/** The store failed: a server that does not answer. */
class SemaphoreStorageException extends \RuntimeException implements ExceptionInterface
{
}

/** The key has what lives in this process alone, and cannot be handed over. */
class UnserializableKeyException extends \RuntimeException implements ExceptionInterface
{
}
