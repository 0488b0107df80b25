<?php

declare(strict_types=1);

namespace App\Messenger;

use Symfony\Component\Lock\Key;
use Symfony\Component\Messenger\Stamp\StampInterface;

/**
 * The key of a lock that its sender has acquired and its handler releases.
 */
final class KeyStamp implements StampInterface
{
    public function __construct(public readonly Key $key)
    {
    }
}
