<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * Of a burst of messages of the key the last one is handled, when it has ended. For messages that go to a transport;
 * others are handled at once.
 */
#[\Attribute(\Attribute::TARGET_CLASS)]
final class Debounce implements Rule
{
    /**
     * @param string     $key     what has come to rest then, with placeholders: see Rule
     * @param float      $seconds time without a message that ends a burst
     * @param float|null $maxWait seconds after which a burst ends at the latest; null: it lasts as long as messages come
     */
    public function __construct(
        public readonly string $key,
        public readonly float $seconds,
        public readonly ?float $maxWait = null,
    ) {
        Argument::key($this, $key);
        Argument::positive($this, 'seconds', $seconds);
        if ($maxWait !== null && !($maxWait >= $seconds && is_finite($maxWait))) {
            throw Argument::invalid($this, 'maxWait', "must be a finite number, and not less than the $seconds seconds of rest; $maxWait is not");
        }
    }
}
