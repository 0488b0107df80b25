<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Exception;

/** There are as many messages on their way as its rule Bounded lets. */
final class QueueFullException extends \RuntimeException
{
    public function __construct(public readonly string $resource, public readonly int $limit)
    {
        parent::__construct(\sprintf('%d messages of "%s" are on their way already.', $limit, $resource));
    }
}
