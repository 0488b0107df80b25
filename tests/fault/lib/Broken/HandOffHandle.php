<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Worker\Handle;
use Latch\Tests\Fault\Worker\Waiting;

/**
 * A lock with a queue, whose release hands it to the next waiter, as in docs/redis-queue.md; with one
 * fault, most often now and then, or none. Messages are entries in the table that waiters look for.
 *
 * Does not promote or demote by waiting: that is tried once.
 *
 * @phpstan-import-type State from Table
 */
final class HandOffHandle implements Handle
{
    /** Of so many calls one goes wrong. */
    private const RARITY = 20;
    /** For so long a lock is a waiter's that was told so, in ns. */
    private const CLAIM = 1_000_000_000;
    /** Reveals a missing claim. */
    private const SHORT_CLAIM = 5_000_000;
    /** How often the first waiter asks; each other one, for each place before its own; in ns. */
    private const FIRST = 1_100_000_000;
    private const PLACE = 2_000_000_000;
    /** How often a waiter looks for messages, in microseconds. */
    private const LOOK = 500;
    /** So seldom that grants meet the ends of waits. */
    private const SELDOM = 5000;

    private readonly string $token;
    private bool $exclusive = false;
    private int $certainUntil = 0;
    private ?int $fencing = null;

    public function __construct(
        private readonly Table $table,
        private readonly Breakage $breakage,
        private readonly string $resource,
        private readonly float $ttl,
        private readonly bool $autoRelease,
    ) {
        $this->token = getmypid() . '-' . bin2hex(random_bytes(6));
    }

    public function __destruct()
    {
        if ($this->autoRelease && $this->certainUntil !== 0) {
            $this->release();
        }
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        $waits = $wait !== 0.0 && $this->certainUntil === 0;
        $now = (int) hrtime(true);
        $end = $wait === null ? \PHP_INT_MAX : $now + (int) ($wait * 1e9);
        [$granted, $ask] = $this->ask($exclusive, $waits);
        while (!$granted && $waits) {
            usleep($this->breakage === Breakage::CancelLosesGrants ? self::SELDOM : self::LOOK);
            if (hrtime(true) >= $end) {
                if ($this->strikes(Breakage::SleepsTooLong, 100)) {
                    usleep(1_000_000);
                }

                return $this->cancel($exclusive);
            }
            if ($wait === null && $this->strikes(Breakage::GivesUp, 10)) {
                return $this->cancel($exclusive);
            }
            $entry = ($exclusive ? 'w' : 'r') . $this->token;
            [$told, $free] = $this->table->change($this->resource, fn (array &$state): array => [
                isset($state['told'][$this->token]),
                $state['holders'] === [] && ($state['queue'][0] ?? '') === $entry,
            ]);
            if ($told && $this->strikes(Breakage::BelievesMessages, 2)) {
                $this->note($exclusive, (int) hrtime(true), $this->fencing ?? random_int(1, 9));

                return true;
            }
            if ($told || $free || hrtime(true) >= $ask) {
                [$granted, $ask] = $this->ask($exclusive, true, $told);
            }
        }

        return $granted;
    }

    public function waiting(): Waiting
    {
        return Waiting::AsToldToTake;
    }

    public function isCertain(): bool
    {
        return hrtime(true) < $this->certainUntil;
    }

    public function refresh(): bool
    {
        $sent = (int) hrtime(true);
        $held = $this->table->change($this->resource, function (array &$state, int $now): bool {
            $held = isset($state['holders'][$this->token]);
            if ($held) {
                $state['holders'][$this->token] = $now + $this->lifetime();
            }

            return $held;
        });
        $this->certainUntil = $held ? $sent + $this->lifetime() : 0;

        return $held;
    }

    public function release(): void
    {
        $this->certainUntil = 0;
        $this->table->change($this->resource, function (array &$state, int $now): void {
            $this->leave($state);
            $this->serve($state, $now);
        });
    }

    public function fencingToken(): ?int
    {
        return $this->exclusive ? $this->fencing : null;
    }

    /**
     * Takes the lock if it can have it, or a place in the queue.
     *
     * @return array{bool, int} whether it has it, and when to ask again
     */
    private function ask(bool $exclusive, bool $waits, bool $claims = false): array
    {
        $sent = (int) hrtime(true);
        $change = function (array &$state, int $now) use ($exclusive, $waits, $claims): array {
            $others = array_diff_key($state['holders'], [$this->token => true]);
            $holds = isset($state['holders'][$this->token]);
            $entry = ($exclusive ? 'w' : 'r') . $this->token;
            unset($state['told'][$this->token]);
            $fits = $exclusive ? $others === [] : \in_array($state['writer'], [null, $this->token], true);
            if ($fits && ($holds || $state['queue'] === [])) {
                $state['queue'] = array_values(array_diff($state['queue'], [$entry]));

                return [$this->admit($state, $now, $exclusive), 0];
            }
            if ($waits && !\in_array($entry, $state['queue'], true)) {
                $claims ? array_unshift($state['queue'], $entry) : $state['queue'][] = $entry;
            }
            $this->serve($state, $now);
            if ($waits && isset($state['told'][$this->token])) {
                unset($state['told'][$this->token]);

                return [$this->admit($state, $now, $exclusive), 0];
            }
            $place = (int) array_search($entry, $state['queue'], true);
            $expiry = $state['holders'] === [] ? \PHP_INT_MAX : max($state['holders']);

            return [null, $place === 0 ? min($expiry, $now + self::FIRST) : $now + $place * self::PLACE];
        };
        [$fencing, $ask] = $this->table->change($this->resource, $change);
        if ($fencing !== null) {
            $this->note($exclusive, $sent, $fencing);
        }

        return [$fencing !== null, $ask];
    }

    /** @param State $state */
    private function admit(array &$state, int $now, bool $exclusive): int
    {
        $state['holders'][$this->token] = $now + $this->lifetime();
        $again = $state['writer'] === $this->token && $this->certainUntil !== 0;
        $state['writer'] = $exclusive ? $this->token : ($again ? null : $state['writer']);

        return $exclusive && !$again ? ++$state['fencing'] : $state['fencing'];
    }

    private function note(bool $exclusive, int $sent, int $fencing): void
    {
        $this->exclusive = $exclusive;
        $this->certainUntil = $sent + $this->lifetime();
        $this->fencing = $fencing;
    }

    /**
     * Hands the lock over to the first, if it can have it, and to all readers behind it if it is one.
     *
     * @param State $state
     */
    private function serve(array &$state, int $now): void
    {
        while ($state['queue'] !== []) {
            $entry = $state['queue'][0];
            $token = substr($entry, 1);
            if ($entry[0] === 'w' ? $state['holders'] !== [] : $state['writer'] !== null) {
                return;
            }
            $state['queue'] = array_values(array_diff($state['queue'], [$entry]));
            if (!is_dir('/proc/' . (int) $token) || $this->strikes(Breakage::ForgetsWaiters)) {
                continue; // It is dead.
            }
            $state['holders'][$token] = $now
                + ($this->breakage === Breakage::BelievesMessages ? self::SHORT_CLAIM : self::CLAIM);
            $state['writer'] = $entry[0] === 'w' ? $token : null;
            $state['told'][$token] = $now;
        }
    }

    /** Ends the wait; a grant at the last moment counts for nothing. */
    private function cancel(bool $exclusive): bool
    {
        $this->table->change($this->resource, function (array &$state, int $now) use ($exclusive): void {
            $stays = $this->strikes(Breakage::CancelStaysInQueue, 50);
            if (isset($state['told'][$this->token]) && $this->strikes(Breakage::CancelLosesGrants)) {
                unset($state['told'][$this->token]);

                return;
            }
            $this->leave($state);
            if ($stays) {
                array_unshift($state['queue'], ($exclusive ? 'w' : 'r') . $this->token);
            }
            $this->serve($state, $now);
        });

        return false;
    }

    /** @param State $state */
    private function leave(array &$state): void
    {
        $state['queue'] = array_values(array_diff($state['queue'], ["w$this->token", "r$this->token"]));
        unset($state['holders'][$this->token], $state['told'][$this->token]);
        if ($state['writer'] === $this->token) {
            $state['writer'] = null;
        }
    }

    private function lifetime(): int
    {
        return (int) ($this->ttl * 1e9);
    }

    private function strikes(Breakage $breakage, int $rarity = self::RARITY): bool
    {
        return $this->breakage === $breakage && random_int(1, $rarity) === 1;
    }
}
