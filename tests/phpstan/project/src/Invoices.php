<?php

declare(strict_types=1);

namespace Shop;

use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockReleasingException;
use Latch\Lock;
use Latch\LockFactory;
use Latch\MultiLock;
use Latch\NoLock;
use Latch\SharedLockInterface;
use Psr\Log\LoggerInterface;

/** Sends each invoice once: what an application does with its locks. */
final class Invoices
{
    /** @var array<int, string> */
    private array $sent = [];
    private ?string $trouble = null;

    public function __construct(private readonly LockFactory $locks, LoggerInterface $logger)
    {
        $this->locks->setLogger($logger);
    }

    public function send(int $number, string $text): bool
    {
        $lock = $this->locks->createLock("invoice-$number", ttl: 30.0);
        if (!$lock->acquire()) {
            return false;
        }
        try {
            $this->sent[$number] = $text;
        } finally {
            $lock->release();
        }

        return true;
    }

    /** Waits for its turn, two seconds at most. */
    public function sendInTurn(int $number, string $text): void
    {
        try {
            $this->locks->createLock("invoice-$number")->synchronized(function () use ($number, $text): void {
                $this->sent[$number] = $text;
            }, timeout: 2.0);
        } catch (LockConflictedException $conflict) {
            throw new Failure("invoice $number is being sent by somebody else", $conflict);
        } catch (LockAcquiringException | LockReleasingException $broken) {
            throw new Failure("invoice $number cannot be locked", $broken);
        }
    }

    /** What the callback returns comes back with its type. */
    public function count(): int
    {
        return $this->locks->createLock('invoices')->synchronized(fn (): int => count($this->sent));
    }

    /**
     * Reads beside other readers, then goes on as the only one.
     *
     * @return array<int, string>
     */
    public function archive(Lock $lock, LoggerInterface $logger): array
    {
        $lock->setLogger($logger);
        if (!$lock->acquireRead(blocking: true, timeout: 1.5)) {
            return [];
        }
        $archived = [];
        foreach ($this->sent as $number => $text) {
            // Not sure of the lock any more: renew it.
            if (!$lock->isHeld() || ($lock->getFencingToken() ?? 1) < 1) {
                $lock->refresh(60.0);
            }
            $archived[$number] = $text;
        }
        // A second look is not taken for the first one's answer.
        if ($lock->isHeld() && $lock->acquire(true, timeout: 0.5) && !$lock->isExpired() && $lock->isHeld()) {
            $this->sent = [];
        }
        $left = $lock->getRemainingLifetime();
        if ($lock->isAcquired() && ($left === null || $left > 0.0)) {
            $lock->release();
        }

        return $archived;
    }

    /** Holds the lock for as long as it takes; returns why it was lost meanwhile, if it was. */
    public function sendRest(Lock $lock): ?string
    {
        $lock->keepAlive(maxHold: 3600.0)->onLost(function (Lock $lost, string $reason): void {
            $this->trouble = $lost->isHeld() ? null : $reason;
        });
        if ($lock->acquire()) {
            $this->sent[] = 'rest';
            $this->trouble ??= $lock->releaseIfHeld() ? null : 'lost';
        }

        return $this->trouble;
    }

    /** Seconds that this process has waited for its locks, for each of them. */
    public function averageWait(): float
    {
        $statistics = Lock::getStatistics();

        return $statistics['acquired'] > 0 ? $statistics['waitSeconds'] / $statistics['acquired'] : 0.0;
    }

    public function lockOf(int $number, bool $needed): SharedLockInterface
    {
        return $needed ? $this->locks->createLock("invoice-$number", autoRelease: false) : new NoLock();
    }

    /**
     * Several invoices, all of them or none; returns how many were sent.
     *
     * @param list<int> $numbers
     */
    public function sendTogether(LockFactory $locks, array $numbers): int
    {
        $resources = ['rates' => 'read'];
        foreach ($numbers as $number) {
            $resources["invoice-$number"] = 'write';
        }
        $lock = $locks->createMultiLock($resources, ttl: 30.0);
        $lock->keepAlive(maxHold: 60.0)->onLost(function (MultiLock $lost, string $reason): void {
            $this->trouble = $lost->isHeld() ? null : $reason;
        });
        if (!$lock->acquireRead(true, timeout: 1.0) || !$lock->acquire(true, timeout: 1.0)) {
            return 0;
        }
        foreach ($lock->getFencingTokens() as $resource => $token) {
            if (!$lock->isHeld() || ($token ?? 1) < 1) {
                throw new Failure("$resource is lost");
            }
        }
        if ($lock->isAcquired() && !$lock->isExpired() && ($lock->getRemainingLifetime() ?? 1.0) > 0.0) {
            $lock->refresh(60.0);
        }
        $lock->release();
        if (MultiLock::getStatistics()['acquired'] < 1) {
            return 0;
        }

        return $locks->createMultiLock(['a', 'b'])->synchronized(static fn (): int => count($numbers));
    }
}
