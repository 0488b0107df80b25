<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Exception\LockConflictedException;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Semaphore\Semaphore;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Symfony\Messenger\Event\LockAcquiredEvent;
use Latch\Symfony\Messenger\Event\LockReleasedEvent;
use Latch\Symfony\Messenger\Exception\LockLostException;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Rule;
use Psr\Container\ContainerInterface;

/**
 * The locks that this process holds for messages. A message inside another one uses those of the outer one.
 *
 * @internal
 */
final class Holds
{
    /** @var array<string, Hold> by store and resource */
    private array $holds = [];

    /** @var list<Attempt> the outermost first */
    private array $attempts = [];

    /**
     * @param ContainerInterface           $factories LockFactory objects, by the name of the store
     * @param \Closure(): SemaphoreFactory $permits   not every store has one
     */
    public function __construct(
        private readonly ContainerInterface $factories,
        private readonly \Closure $permits,
        private readonly Waits $waits,
        private readonly float $ttl,
        private readonly ?float $maxHold,
        private readonly Recorder $recorder,
    ) {
    }

    public function enter(Attempt $attempt): void
    {
        $this->attempts[] = $attempt;
    }

    public function leave(): void
    {
        array_pop($this->attempts);
    }

    public function current(): ?Attempt
    {
        return $this->attempts[array_key_last($this->attempts) ?? -1] ?? null;
    }

    /**
     * The locks of the outer messages, before an inner one is handled.
     *
     * @throws LockLostException
     */
    public function renew(): void
    {
        foreach ($this->attempts as $attempt) {
            foreach ($attempt->holds() as $hold) {
                $hold->renew();
            }
        }
    }

    /**
     * @param bool|float $wait see the rule Lock
     *
     * @return bool false: refused
     *
     * @throws \LogicException when there is no such store
     */
    public function lock(
        Attempt $attempt,
        string $store,
        string $resource,
        ?float $ttl,
        ?float $maxHold,
        bool $read,
        bool|float $wait,
        ?Rule $by = null,
    ): bool {
        if (!$this->factories->has($store)) {
            throw new \LogicException(\sprintf(
                'There is no store "%s" under latch.stores, which a #[Lock] of %s names.',
                $store,
                $attempt->message::class,
            ));
        }
        $factory = $this->factories->get($store);
        \assert($factory instanceof LockFactory);
        $write = fn (Lock $lock): bool => $this->acquire($attempt, $lock, false, $wait);

        return $this->share($attempt, "lock\0$store\0$resource", $by, $read, $write, fn (): ?Hold => Hold::acquire(
            $resource,
            $ttl ?? $this->ttl,
            $maxHold ?? $this->maxHold,
            static fn (float $ttl): Lock => $factory->createLock($resource, $ttl),
            fn (Lock $lock): bool => $this->acquire($attempt, $lock, $read, $wait),
            $read,
            rule: $by,
        ));
    }

    /**
     * @return bool false: refused
     */
    public function permit(Attempt $attempt, string $resource, Limit $rule): bool
    {
        return $this->share($attempt, "permit\0$resource", $rule, true, static fn (): bool => true, fn (): ?Hold => Hold::acquire(
            $resource,
            $rule->ttl ?? $this->ttl,
            $this->maxHold,
            fn (float $ttl): Semaphore => ($this->permits)()->createSemaphore($resource, $rule->limit, 1, $ttl),
            fn (Semaphore $semaphore): bool => $this->acquirePermit($attempt, $semaphore, $rule->wait),
            rule: $rule,
        ));
    }

    /**
     * @param \Closure(Lock): bool $promote
     * @param \Closure(): ?Hold    $acquire
     */
    private function share(
        Attempt $attempt,
        string $id,
        ?Rule $by,
        bool $read,
        \Closure $promote,
        \Closure $acquire,
    ): bool {
        $hold = $this->holds[$id] ?? null;
        $isNew = $hold === null || !$hold->isUsed() || !$hold->isHeld();
        if ($isNew) {
            $hold = $acquire();
        }
        $release = $hold?->use($read, $promote);
        if ($hold === null || $release === null) {
            return false;
        }
        $this->holds[$id] = $hold;
        $attempt->hold($hold, function () use ($attempt, $id, $hold, $by, $release): void {
            try {
                $release();
            } finally {
                if (!$hold->isUsed() && ($this->holds[$id] ?? null) === $hold) {
                    unset($this->holds[$id]);
                }
            }
            if (!$hold->isUsed()) {
                $this->recorder->tell(
                    LockReleasedEvent::class,
                    static fn () => new LockReleasedEvent($attempt->envelope, $by, $hold->resource, $hold->age()),
                );
            }
        });
        if ($isNew) {
            $this->recorder->tell(
                LockAcquiredEvent::class,
                static fn () => new LockAcquiredEvent($attempt->envelope, $by, $hold->resource, $attempt->takeWaited()),
            );
        }

        return true;
    }

    private function acquire(Attempt $attempt, Lock $lock, bool $read, bool|float $wait): bool
    {
        if ($wait === false) {
            return $read ? $lock->acquireRead() : $lock->acquire();
        }
        $timeout = \is_float($wait) ? $wait : null;
        try {
            return $this->waits->during(
                $attempt,
                static fn (): bool => $read ? $lock->acquireRead(true, $timeout) : $lock->acquire(true, $timeout),
            );
        } catch (LockConflictedException) {
            return false;
        }
    }

    private function acquirePermit(Attempt $attempt, Semaphore $semaphore, bool|float $wait): bool
    {
        return $wait === false
            ? $semaphore->acquire()
            : $this->waits->during($attempt, static fn (): bool => $semaphore->acquire(true, \is_float($wait) ? $wait : null));
    }
}
