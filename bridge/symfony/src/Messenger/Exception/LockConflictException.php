<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Exception;

/**
 * The message cannot be handled now, as another one has what it needs.
 */
class LockConflictException extends \RuntimeException
{
    /**
     * @param string $resource resource of the lock, or of what else was refused
     */
    final public function __construct(
        string $message,
        public readonly string $resource,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
