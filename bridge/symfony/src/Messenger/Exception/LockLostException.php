<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Exception;

use Latch\Symfony\Messenger\Rule;

/**
 * A lock was lost while the message was handled. An ordinary failure, before anything was committed.
 */
final class LockLostException extends \RuntimeException
{
    public function __construct(public readonly string $resource, public readonly ?Rule $rule = null)
    {
        parent::__construct(\sprintf('The lock "%s" was lost while its message was handled.', $resource));
    }
}
