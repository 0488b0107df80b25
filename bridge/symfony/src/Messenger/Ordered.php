<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * Messages of the key are handled one after the other, in the order of their dispatches, by any number of workers.
 *
 * One of them is in its transport; those behind it are kept in the store, each until the one before has ended: their
 * dispatches return envelopes with a ParkedStamp. For messages that go to one transport; the rule has no effect on others.
 */
#[\Attribute(\Attribute::TARGET_CLASS)]
final class Ordered implements Rule
{
    /**
     * @param string      $key      what is in order, with placeholders: see Rule
     * @param float       $patience seconds after which a message that was not handled, and that no worker has, holds the
     *                              others up no more. When it comes after all it is handled out of order
     * @param string|null $fallback transport to which the others go then, one after the other, until none waits any more;
     *                              null: their own
     * @param float       $lease    seconds for which the place of a killed worker's message is its own
     */
    public function __construct(
        public readonly string $key,
        public readonly float $patience = 3600.0,
        public readonly ?string $fallback = null,
        public readonly float $lease = 30.0,
    ) {
        Argument::key($this, $key);
        Argument::positive($this, 'patience', $patience);
        Argument::positive($this, 'lease', $lease);
    }
}
