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

    /** @var array<string, LockFactory> by the name of the store */
    private array $opened = [];

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
        $factory = $this->opened[$store] ??= $this->factory($store, $attempt->message);
        $id = "lock\0$store\0$resource";
        $hold = $this->held($id) ?? Hold::of(
            $resource,
            $ttl ?? $this->ttl,
            $maxHold ?? $this->maxHold,
            static fn (float $ttl): Lock => $factory->createLock($resource, $ttl),
            $read,
            rule: $by,
        );

        return $this->use($attempt, $id, $hold, $by, $read, $wait);
    }

    /**
     * @return bool false: refused
     */
    public function permit(Attempt $attempt, string $resource, Limit $rule): bool
    {
        $id = "permit\0$resource";
        $hold = $this->held($id) ?? Hold::of(
            $resource,
            $rule->ttl ?? $this->ttl,
            $this->maxHold,
            fn (float $ttl): Semaphore => ($this->permits)()->createSemaphore($resource, $rule->limit, 1, $ttl),
            rule: $rule,
        );

        return $this->use($attempt, $id, $hold, $rule, false, $rule->wait);
    }

    private function factory(string $store, object $message): LockFactory
    {
        if (!$this->factories->has($store)) {
            throw new \LogicException(\sprintf(
                'There is no store "%s" under latch.stores, which a #[Lock] of %s names.',
                $store,
                $message::class,
            ));
        }
        $factory = $this->factories->get($store);
        \assert($factory instanceof LockFactory);

        return $factory;
    }

    /** Of an outer message. */
    private function held(string $id): ?Hold
    {
        $hold = $this->holds[$id] ?? null;

        return $hold !== null && $hold->isUsed() && $hold->isHeld() ? $hold : null;
    }

    private function use(Attempt $attempt, string $id, Hold $hold, ?Rule $by, bool $read, bool|float $wait): bool
    {
        $isNew = !$hold->isUsed();
        $promoted = !$isNew && $hold->isToPromote($read);
        if (($isNew || $promoted) && !$this->acquire($attempt, $hold->lock(), $read, $wait)) {
            return false;
        }
        $hold->use($read);
        $this->holds[$id] = $hold;
        $attempt->hold($hold, fn () => $this->giveBack($attempt, $id, $hold, $by, $promoted));
        if ($isNew) {
            $this->recorder->tell(
                LockAcquiredEvent::class,
                static fn () => new LockAcquiredEvent($attempt->envelope, $by, $hold->resource, $attempt->takeWaited()),
            );
        }

        return true;
    }

    private function giveBack(Attempt $attempt, string $id, Hold $hold, ?Rule $by, bool $promoted): void
    {
        try {
            $hold->leave($promoted);
        } finally {
            $isOver = !$hold->isUsed();
            if ($isOver && ($this->holds[$id] ?? null) === $hold) {
                unset($this->holds[$id]);
            }
        }
        if ($isOver) {
            $this->recorder->tell(
                LockReleasedEvent::class,
                static fn () => new LockReleasedEvent($attempt->envelope, $by, $hold->resource, $hold->age()),
            );
        }
    }

    private function acquire(Attempt $attempt, Lock|Semaphore $lock, bool $read, bool|float $wait): bool
    {
        if ($wait === false) {
            return $read && $lock instanceof Lock ? $lock->acquireRead() : $lock->acquire();
        }
        $timeout = \is_float($wait) ? $wait : null;
        try {
            return $this->waits->during(
                $attempt,
                static fn (): bool => $read && $lock instanceof Lock ? $lock->acquireRead(true, $timeout) : $lock->acquire(true, $timeout),
            );
        } catch (LockConflictedException) {
            return false;
        }
    }
}
