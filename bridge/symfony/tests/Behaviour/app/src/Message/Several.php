<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\LockedMessage;

/**
 * Needs several locks, which its key has in some order: "ka kb", or "ka kb and waits".
 */
final class Several extends Task implements Queued, LockedMessage
{
    public function getLocks(): iterable
    {
        [$names, $waits] = explode(' and ', $this->key) + [1 => ''];
        foreach (explode(' ', $names) as $name) {
            yield $waits === '' ? $name : new Lock($name, wait: true);
        }
    }
}
