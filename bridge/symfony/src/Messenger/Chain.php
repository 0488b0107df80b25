<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * Messages that are sent one after the other, each when the one before was handled, after its transactions.
 */
final class Chain implements Rule
{
    /** @var list<object> */
    public readonly array $messages;

    /**
     * @param object ...$messages messages, or envelopes with stamps
     */
    public function __construct(object ...$messages)
    {
        if ($messages === []) {
            throw new \InvalidArgumentException('Chain: $messages must not be empty.');
        }
        $this->messages = array_values($messages);
    }
}
