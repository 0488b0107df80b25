<?php

/** @generate-class-entries */

namespace Latch\Exception;

/** Implemented by all exceptions of Latch. */
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

/** The lock could not be acquired or refreshed, for another reason than a conflict with a holder. */
class LockAcquiringException extends \RuntimeException implements ExceptionInterface
{
}

/** Another holder has the lock. */
class LockConflictedException extends \RuntimeException implements ExceptionInterface
{
}

/** The lock expired, or was lost, before the call could end. */
class LockExpiredException extends \RuntimeException implements ExceptionInterface
{
    private mixed $result = null;

    /**
     * Return value of the callback of Lock::synchronized(), whose lock was lost before the callback returned;
     * null in exceptions of other methods.
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

/** The key has a lock that is bound to this process (flock, semaphore) and cannot be passed on. */
class UnserializableKeyException extends \RuntimeException implements ExceptionInterface
{
}
