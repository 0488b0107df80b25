<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * So many messages of the key are on their way at a time, from dispatch to end. For messages that go to a transport.
 */
#[\Attribute(\Attribute::TARGET_CLASS)]
final class Bounded implements Rule
{
    public const ON_FULL = ['sync', 'skip', 'fail'];

    public const TRANSPORT = 'transport:';

    /**
     * @param int    $limit    number of messages; say the same everywhere
     * @param string $key      what there is a bound of, with placeholders: see Rule
     * @param string $onFull   what becomes of a message that is too much: "sync": it is handled by the process that
     *                         dispatches it; "skip": it is not sent; "fail": a QueueFullException; "transport:NAME": it is
     *                         sent to that transport
     * @param float  $queueTtl seconds after which the place of a message is free at the latest
     */
    public function __construct(
        public readonly int $limit,
        public readonly string $key = '{class}',
        public readonly string $onFull = 'sync',
        public readonly float $queueTtl = 3600.0,
    ) {
        Argument::positive($this, 'limit', $limit);
        Argument::key($this, $key);
        Argument::positive($this, 'queueTtl', $queueTtl);
        if (!str_starts_with($onFull, self::TRANSPORT) || $onFull === self::TRANSPORT) {
            Argument::oneOf($this, 'onFull', $onFull, [...self::ON_FULL, self::TRANSPORT . 'NAME']);
        }
    }
}
