<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

use Symfony\Component\Messenger\Stamp\StampInterface;

/** What travels with a message: one string, which every serialiser carries. */
final class LatchStamp implements StampInterface
{
    /**
     * @param string $data JSON, for this bundle alone
     */
    public function __construct(public readonly string $data)
    {
    }
}
