<?php

declare(strict_types=1);

namespace Latch\Laravel\Events;

use Illuminate\Contracts\Cache\Lock;

/**
 * What happened to a lock of the cache. A queued listener gets it without the lock, with the holder of the event's time.
 */
abstract class LockEvent
{
    /** @var array{array<string, mixed>|null}|null the answer of holder(), in a queue */
    protected ?array $answer = null;

    /**
     * @param string $name as the application has said it, without the prefix of the cache
     */
    public function __construct(public readonly string $name, public readonly Lock $lock)
    {
    }

    /**
     * Asks who has the lock now, which may be another one than at the event.
     *
     * @return array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null,
     *               fencingToken: int|null, id: string}|null null: nobody, or the driver cannot tell: only Redis can
     */
    public function holder(): ?array
    {
        if ($this->answer !== null) {
            return $this->answer[0];
        }

        return method_exists($this->lock, 'holder') ? $this->lock->holder() : null;
    }

    /**
     * @return list<string>
     */
    public function __sleep(): array
    {
        $this->answer = [$this->holder()];

        return array_keys(array_diff_key(get_object_vars($this), ['lock' => true]));
    }
}
