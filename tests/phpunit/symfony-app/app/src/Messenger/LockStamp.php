<?php

declare(strict_types=1);

namespace App\Messenger;

use Symfony\Component\Messenger\Stamp\StampInterface;

/**
 * What is locked while this message is handled, in place of what its class says.
 */
final class LockStamp implements StampInterface
{
    public function __construct(public readonly Locked $locked)
    {
    }
}
