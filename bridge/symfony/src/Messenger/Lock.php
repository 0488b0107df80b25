<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * The message is handled under a lock, which ends after the transactions of the bus.
 *
 * Locks of several rules are taken in one order, all of them or none.
 */
#[\Attribute(\Attribute::TARGET_CLASS | \Attribute::IS_REPEATABLE)]
final class Lock implements Rule
{
    public readonly OnConflict $onConflict;

    /**
     * @param string        $key        resource of the lock, with placeholders: see Rule
     * @param float|null    $ttl        seconds after which the lock of a killed worker is free; null: latch.messenger.ttl
     * @param bool          $read       shared with other readers
     * @param bool|float    $wait       seconds to wait for the lock; true: as long as it takes. Who waits in a worker
     *                                  handles nothing else
     * @param OnConflict|'requeue'|'skip'|'fail' $onConflict
     * @param int|null      $delay      milliseconds after which a refused message comes back, at first; null:
     *                                  latch.messenger.requeue.delay
     * @param string|null   $store      name under latch.stores; null: latch.messenger.store
     * @param float|null    $maxHold    seconds after which the lock is not renewed any more; null: latch.messenger.max_hold
     */
    public function __construct(
        public readonly string $key = '{class}',
        public readonly ?float $ttl = null,
        public readonly bool $read = false,
        public readonly bool|float $wait = false,
        OnConflict|string $onConflict = OnConflict::Requeue,
        public readonly ?int $delay = null,
        public readonly ?string $store = null,
        public readonly ?float $maxHold = null,
    ) {
        $this->onConflict = Argument::onConflict($this, $onConflict);
        Argument::key($this, $key);
        Argument::positive($this, 'ttl', $ttl);
        Argument::positive($this, 'delay', $delay);
        Argument::positive($this, 'maxHold', $maxHold);
        Argument::wait($this, $wait);
    }
}
