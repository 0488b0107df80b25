<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Exception;

use Latch\Symfony\Messenger\Rule;

/**
 * The message cannot be handled now, as another one has what it needs.
 */
class LockConflictException extends \RuntimeException
{
    /**
     * @param string    $resource resource of the lock, or of what else was refused
     * @param Rule|null $rule     null: not known any more
     */
    final public function __construct(
        string $message,
        public readonly string $resource,
        ?\Throwable $previous = null,
        public readonly ?Rule $rule = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
