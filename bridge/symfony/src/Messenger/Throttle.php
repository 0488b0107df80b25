<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * So many messages of the key begin to be handled in each interval, by all workers together. A retry begins anew.
 */
#[\Attribute(\Attribute::TARGET_CLASS | \Attribute::IS_REPEATABLE)]
final class Throttle implements Rule
{
    /**
     * @param int    $limit    number of messages in each interval
     * @param float  $interval seconds
     * @param string $key      what is throttled, with placeholders: see Rule
     * @param int    $burst    messages that may begin at once, after a pause: 1 (evenly spaced) to $limit
     * @param float  $wait     seconds to wait for a slot. If there is none in that time the message comes back when there
     *                         is one; 0.0: it never waits
     */
    public function __construct(
        public readonly int $limit,
        public readonly float $interval,
        public readonly string $key = '{class}',
        public readonly int $burst = 1,
        public readonly float $wait = 0.0,
    ) {
        Argument::positive($this, 'limit', $limit);
        Argument::positive($this, 'interval', $interval);
        Argument::key($this, $key);
        if ($burst < 1 || $burst > $limit) {
            throw Argument::invalid($this, 'burst', "must be from 1 to the limit of $limit, $burst is not");
        }
        if (!($wait >= 0 && is_finite($wait))) {
            throw Argument::invalid($this, 'wait', "must be a finite number from 0 on, $wait is not");
        }
    }
}
