<?php

declare(strict_types=1);

namespace Latch\Laravel\Cache;

use Illuminate\Contracts\Cache\LockTimeoutException;
use Latch\Exception\ExceptionInterface as LockException;
use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockConflictedException;
use Latch\Laravel\Events\LockLost;
use Latch\Laravel\Events\LockRefused;
use Latch\Laravel\Events\LockTimedOut;
use Latch\Laravel\Events\LockWaited;
use Latch\Laravel\Redis\NativeStores;
use Latch\Lock;
use Latch\Store\RedisStringStore;

/**
 * For subclasses of Laravel's locks in Redis: the lock is Latch's, whose key and owner are what Laravel's would be.
 *
 * @internal
 */
trait LockBody
{
    use BlocksInTurn;
    use TellsEvents;

    /** Of a wait, in seconds: longer than any process lives. */
    private const LONGEST_WAIT = 1e9;

    private RedisStringStore $store;
    private string $storedOwner;

    /** By which this object acquired the lock, if it has; else it stands for whatever lock the owner has. */
    private Lock $latch;

    /** And has not released it. */
    private bool $hasAcquired = false;

    /** Seconds for which it is acquired at a time; null: for all of them. */
    private ?float $lease = null;

    /** When the lock was acquired with a lease; null: without one. */
    private ?int $leasedNs = null;

    /** The acquisition is over, and a LockLost event has been dispatched. */
    private bool $isLossTold = false;

    /** @var list<\Closure(Lock): mixed> what keepAlive() and onLost() have asked for */
    private array $requests = [];

    /**
     * Null: it stays Laravel's own, as Latch does not have such a connection, name or owner.
     *
     * @param int|float $seconds as the application has said it: Laravel's lock has whole ones
     */
    public static function native(parent $stock, mixed $seconds, NativeStores $natives): ?static
    {
        $store = str_starts_with($stock->name, 'latch:') ? null : $natives->of($stock->redis);
        if ($store === null) {
            return null;
        }
        $lock = new static($stock->redis, $stock->name, $stock->seconds, $stock->owner);
        $lock->seconds = $seconds;
        $lock->store = $store;
        $lock->storedOwner = $lock->pack((string) $stock->owner);
        try {
            $lock->latch = $lock->makeLatch();
        } catch (InvalidArgumentException) {
            return null;
        }

        return $lock;
    }

    /** The owner as this connection writes it. */
    abstract private function pack(string $owner): string;

    /** What the connection's client throws in this case, for applications that catch it. */
    abstract private function clientException(LockException $e): \Throwable;

    public function acquire()
    {
        $acquired = $this->acquireLatch(false, null);
        if (!$acquired) {
            $this->tell(LockRefused::class);
        }

        return $acquired;
    }

    public function release()
    {
        $hadAcquired = $this->hasAcquired;
        $this->hasAcquired = false;
        try {
            $wasOwn = $this->latch->releaseIfHeld();
        } catch (LockException $e) {
            throw $this->clientException($e);
        }
        if ($hadAcquired && !$wasOwn) {
            $this->tellLoss(self::LOST);
        }

        return $wasOwn;
    }

    public function forceRelease()
    {
        try {
            $this->store->evict($this->makeKey());
        } catch (LockException $e) {
            throw $this->clientException($e);
        }
        $this->latch = $this->makeLatch();
        $this->hasAcquired = false;
    }

    /**
     * @param int|float|null $seconds from now; null: as at the beginning; 0: for ever
     *
     * @return bool false: another owner has the lock, or nobody
     */
    public function refresh($seconds = null)
    {
        try {
            $this->refreshLatch((float) max(0, $seconds ?? $this->seconds));
        } catch (LockConflictedException) {
            return false;
        } catch (LockException $e) {
            throw $this->clientException($e);
        }

        return true;
    }

    /**
     * From the next acquire on the lock is acquired for so many seconds at a time, and renewed while this object holds it, for
     * no longer than its seconds: when the process is killed, it is free after the lease. Where Latch cannot renew in the
     * background it is acquired for all of its seconds.
     *
     * @param float|null $seconds null: no lease
     */
    public function lease(?float $seconds): static
    {
        $this->lease = $seconds;

        return $this;
    }

    /**
     * Renews the lock in the background while this object holds it, each third of its seconds.
     *
     * @param float|null $maxHold seconds after which that ends; null: the setting latch.max_hold
     *
     * @throws LockException when the connection's locks cannot be renewed in the background, see Latch\Lock::keepAlive()
     */
    public function keepAlive(?float $maxHold = null): static
    {
        $self = \WeakReference::create($this);

        return $this->request(static fn (Lock $latch): Lock => self::announceLoss($self, $latch->keepAlive($maxHold)));
    }

    /**
     * Calls $callback when the lock is lost that this object holds, as soon as PHP code runs again.
     *
     * @param callable $callback called with this object and the reason, a text
     *
     * @phpstan-param callable(static, string): mixed $callback
     *
     * @throws LockException when the connection's locks cannot be watched, see Latch\Lock::onLost()
     */
    public function onLost(callable $callback): static
    {
        // Weak, as the lock is to end with its last user.
        $self = \WeakReference::create($this);

        return $this->request(static fn (Lock $latch): Lock => $latch->onLost(
            static fn (Lock $latch, string $reason): mixed => $callback($self->get(), $reason),
        ));
    }

    /** Whether this object holds the lock for certain, without a request. */
    public function isHeld(): bool
    {
        return $this->latch->isHeld();
    }

    /** Seconds until the lock expires that this object holds; null: never, or it holds none. */
    public function remaining(): ?float
    {
        return $this->latch->getRemainingLifetime();
    }

    /** A number that is greater than that of every earlier holder; null: this object does not hold the lock. */
    public function fencingToken(): ?int
    {
        return $this->latch->getFencingToken();
    }

    /**
     * Who holds the lock: of a process without Latch the expiry alone. Null: nobody.
     *
     * @return array{pid: int|null, host: string|null, script: string|null, since: float|null, remaining: float|null,
     *               fencingToken: int|null, id: string}|null
     */
    public function holder(): ?array
    {
        try {
            return $this->store->inspect($this->makeKey())['holders'][0] ?? null;
        } catch (LockException $e) {
            throw $this->clientException($e);
        }
    }

    /**
     * Without the connection, which has the password.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array
    {
        return [
            'name' => $this->name,
            'seconds' => $this->seconds,
            'owner' => $this->owner,
            'connection' => $this->getConnectionName(),
            'held' => $this->isHeld(),
        ];
    }

    private function wait(float $seconds): void
    {
        $begunNs = hrtime(true);
        $waits = $this->announcer->isHeard(LockWaited::class) ? Lock::getStatistics()['waits'] : null;
        if (!$this->acquireLatch(true, min($seconds, self::LONGEST_WAIT))) {
            $this->tell(LockTimedOut::class, self::secondsSince($begunNs));

            throw new LockTimeoutException();
        }
        if ($waits !== null && Lock::getStatistics()['waits'] > $waits) {
            $this->tell(LockWaited::class, self::secondsSince($begunNs));
        }
    }

    private function acquireLatch(bool $isBlocking, ?float $timeout): bool
    {
        // The same one would renew what it holds: Laravel's refuses that.
        $leased = $this->makeLeased();
        $latch = $leased ?? ($this->hasAcquired ? $this->makeLatch() : $this->latch);
        try {
            if (!$latch->acquire($isBlocking, $timeout)) {
                return false;
            }
        } catch (LockException $e) {
            throw $this->clientException($e);
        }
        $this->latch = $latch;
        $this->hasAcquired = true;
        $this->leasedNs = $leased === null ? null : hrtime(true);
        $this->isLossTold = false;

        return true;
    }

    private function makeKey(): \Latch\Key
    {
        return RedisStringStore::key($this->name, $this->storedOwner);
    }

    private function makeLatch(): Lock
    {
        $seconds = $this->seconds > 0 ? (float) $this->seconds : null;

        return $this->prepare(new Lock($this->makeKey(), $this->store, $seconds, false));
    }

    private function prepare(Lock $latch): Lock
    {
        foreach ($this->requests as $request) {
            $request($latch);
        }

        return $latch;
    }

    /** Null: there is no lease, or Latch cannot renew it, as by a client object. */
    private function makeLeased(): ?Lock
    {
        if ($this->lease === null || ($this->seconds > 0 && $this->seconds <= $this->lease)) {
            return null;
        }
        $latch = new Lock($this->makeKey(), $this->store, $this->lease, false);
        try {
            $latch->keepAlive($this->seconds > 0 ? (float) $this->seconds : null);
        } catch (InvalidArgumentException) {
            return null;
        }

        return $this->prepare(self::announceLoss(\WeakReference::create($this), $latch));
    }

    /**
     * @param float $seconds 0: for ever
     */
    private function refreshLatch(float $seconds): void
    {
        if ($this->hasAcquired && $this->leasedNs !== null && $this->lease !== null) {
            $this->latch->keepAlive($seconds > 0 ? self::secondsSince($this->leasedNs) + $seconds : null);
            $seconds = $seconds > 0 ? min($seconds, $this->lease) : $this->lease;
        }
        $this->latch->refresh($seconds);
    }

    /**
     * @param \Closure(Lock): mixed $request
     */
    private function request(\Closure $request): static
    {
        $request($this->latch);
        $this->requests[] = $request;

        return $this;
    }
    /**
     * @param \WeakReference<self> $self weak, as the lock is to end with its last user
     */
    private static function announceLoss(\WeakReference $self, Lock $latch): Lock
    {
        return $latch->onLost(static fn (Lock $latch, string $reason): mixed => $self->get()?->tellLoss($reason));
    }

    private function tellLoss(string $reason): void
    {
        if (!$this->isLossTold) {
            $this->isLossTold = true;
            $this->tell(LockLost::class, $reason);
        }
    }
}
