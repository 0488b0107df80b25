<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * So many messages of the key are handled at a time, by all workers together.
 */
#[\Attribute(\Attribute::TARGET_CLASS | \Attribute::IS_REPEATABLE)]
final class Limit implements Rule
{
    public readonly OnConflict $onConflict;

    /**
     * @param int        $limit number of messages; say the same everywhere
     * @param string     $key   name of the semaphore, with placeholders: see Rule
     * @param bool|float $wait  seconds to wait for a permit, in the order of arrival; true: as long as it takes
     * @param OnConflict|'requeue'|'skip'|'fail' $onConflict
     * @param int|null   $delay milliseconds after which a refused message comes back, at first; null:
     *                          latch.messenger.requeue.delay
     * @param float|null $ttl   seconds after which the permit of a killed worker is free; null: latch.messenger.ttl
     */
    public function __construct(
        public readonly int $limit,
        public readonly string $key = '{class}',
        public readonly bool|float $wait = false,
        OnConflict|string $onConflict = OnConflict::Requeue,
        public readonly ?int $delay = null,
        public readonly ?float $ttl = null,
    ) {
        $this->onConflict = Argument::onConflict($this, $onConflict);
        Argument::positive($this, 'limit', $limit);
        Argument::key($this, $key);
        Argument::positive($this, 'delay', $delay);
        Argument::positive($this, 'ttl', $ttl);
        Argument::wait($this, $wait);
    }
}
