<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * While a message of the key is on its way, others are not sent: dispatch() returns their envelopes with a SkippedStamp.
 */
#[\Attribute(\Attribute::TARGET_CLASS)]
final class Once implements Rule
{
    public const UNTIL = ['done', 'received', 'attempt', 'chain'];

    /**
     * @param string     $key      what there is to be one of, with placeholders: see Rule
     * @param string     $until    "done": until it was handled, or has failed for good; "received": until it is about
     *                             to be handled, so that one may wait while another is handled; "attempt": until it was
     *                             handled for the first time, also if that failed; "chain": until the last step of its
     *                             Chain was handled, or one has failed for good
     * @param float      $queueTtl seconds that a message may be in the queue; after them others may be sent, and are
     *                             still never handled at the same time
     * @param float|null $ttl      seconds after which the key of a killed worker is free; null: latch.messenger.ttl
     *
     * @phpstan-param 'done'|'received'|'attempt'|'chain' $until
     */
    public function __construct(
        public readonly string $key = '{class}',
        public readonly string $until = 'done',
        public readonly float $queueTtl = 3600.0,
        public readonly ?float $ttl = null,
    ) {
        Argument::key($this, $key);
        Argument::oneOf($this, 'until', $until, self::UNTIL);
        Argument::positive($this, 'queueTtl', $queueTtl);
        Argument::positive($this, 'ttl', $ttl);
    }
}
