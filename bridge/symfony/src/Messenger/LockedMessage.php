<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/** A message that computes its locks. */
interface LockedMessage
{
    /**
     * @return iterable<Lock|string> beside those of its attributes; a string is a key as in #[Lock]
     */
    public function getLocks(): iterable;
}
