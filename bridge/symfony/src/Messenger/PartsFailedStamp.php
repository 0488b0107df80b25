<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Symfony\Component\Messenger\Stamp\StampInterface;

/** Some of the parts before this message have failed. */
final class PartsFailedStamp implements StampInterface
{
    /**
     * @param list<int> $parts their places in AfterAll, from 0 on
     */
    public function __construct(public readonly array $parts)
    {
    }
}
