<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Combined;

use Latch\Key;
use Latch\SharedLockStoreInterface;

/**
 * The same, which knows readers.
 */
final class RecordedSharedStore extends RecordedStore implements SharedLockStoreInterface
{
    public function saveRead(Key $key): void
    {
        $this->tell('saveRead', $key);
    }
}
