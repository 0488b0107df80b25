<?php

declare(strict_types=1);

namespace App\Message;

use App\Messenger\Locked;

/**
 * One import at a time, whatever it imports: the lock is that of the class.
 */
#[Locked(blocking: true)]
final class ImportCatalogue
{
    public function __construct(
        public readonly string $catalogue,
        public readonly string $source,
    ) {
    }
}
