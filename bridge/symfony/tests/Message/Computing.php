<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\LockedMessage;

#[Lock('own')]
final class Computing implements LockedMessage
{
    /**
     * @param list<string> $resources
     */
    public function __construct(private readonly array $resources)
    {
    }

    public function getLocks(): iterable
    {
        yield from $this->resources;
        yield new Lock('shared', read: true);
    }
}
