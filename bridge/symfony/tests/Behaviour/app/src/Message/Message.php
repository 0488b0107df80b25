<?php

declare(strict_types=1);

namespace App\Message;

/**
 * What the tests send: it has a name, by which the journal speaks of it, and says itself what its handler does.
 */
abstract class Message
{
    /**
     * @param array<mixed> $steps what its handler does, see App\Handler\Steps
     * @param string       $key   for the rules
     */
    public function __construct(
        public readonly string $name,
        public readonly array $steps = [],
        public readonly string $key = '',
    ) {
    }
}
