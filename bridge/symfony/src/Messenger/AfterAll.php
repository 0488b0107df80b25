<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * The message is dispatched when all these have been handled, in whatever order, by any number of workers: once.
 *
 * They are dispatched in its place; it is kept in the store, and dispatch() returns its envelope with a ParkedStamp.
 */
final class AfterAll implements Rule
{
    /** @var list<object> */
    public readonly array $parts;

    /**
     * @param object[] $parts         messages, or envelopes with stamps: 1 to 10,000
     * @param bool     $allowFailures also when parts have failed for good; then the message has a PartsFailedStamp. Without
     *                                it, a part that has failed holds it back until it was handled from the failure
     *                                transport
     * @param float    $ttl           seconds for which the message is kept after the last part that was handled
     */
    public function __construct(array $parts, public readonly bool $allowFailures = false, public readonly float $ttl = 604800.0)
    {
        if ($parts === []) {
            throw Argument::invalid($this, 'parts', 'must not be empty');
        }
        Argument::positive($this, 'ttl', $ttl);
        $this->parts = array_values($parts);
    }
}
