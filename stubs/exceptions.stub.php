<?php

/** @generate-class-entries */

namespace Latch\Exception;

/** Implemented by everything that Latch throws. */
interface ExceptionInterface extends \Throwable
{
}

/** An argument is out of its range; the message names it. */
class InvalidArgumentException extends \InvalidArgumentException implements ExceptionInterface
{
}

/** A TTL is negative, or not a finite number. */
class InvalidTtlException extends InvalidArgumentException implements ExceptionInterface
{
}

/** The lock could not be acquired or refreshed, for another reason than that somebody holds it. */
class LockAcquiringException extends \RuntimeException implements ExceptionInterface
{
}

/** Somebody else holds the lock. */
class LockConflictedException extends \RuntimeException implements ExceptionInterface
{
}

/** The lock ran out, or was lost, before the call could end. */
class LockExpiredException extends \RuntimeException implements ExceptionInterface
{
    private mixed $result = null;

    /**
     * What the callback of Lock::synchronized() returned, whose lock was lost before it did; null of what
     * others throw.
     */
    public function getResult(): mixed {}
}

/** The lock could not be released. */
class LockReleasingException extends \RuntimeException implements ExceptionInterface
{
}

/** The store failed: a file that cannot be opened, a server that does not answer. */
class LockStorageException extends \RuntimeException implements ExceptionInterface
{
}

/** The key holds a lock that lives in this process (flock, semaphore) and cannot be handed over. */
class UnserializableKeyException extends \RuntimeException implements ExceptionInterface
{
}
