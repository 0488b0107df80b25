<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Worker\KeptHandle;
use Latch\Tests\Fault\Worker\Waiting;

/**
 * A lock that is renewed each third of its TTL, with one fault, or none. What a thread would do beside is done
 * whenever it is asked, and while it sleeps.
 *
 * @phpstan-import-type State from Table
 */
final class RenewedHandle implements KeptHandle
{
    /** Of so many calls one goes wrong. */
    private const RARITY = 5;
    /** How often it looks whether there is something to be done while it sleeps, in microseconds. */
    private const LOOK = 2000;

    private readonly string $token;
    private readonly int $lifetime;
    private bool $exclusive = false;
    private int $fencing = 0;
    /** Until when it holds for certain; 0: it does not. */
    private int $deadline = 0;
    /** When it is to be renewed; PHP_INT_MAX: not any more. */
    private int $due = \PHP_INT_MAX;
    /** @var (\Closure(string): void)|null */
    private ?\Closure $told = null;

    public function __construct(
        private readonly Table $table,
        private readonly Breakage $breakage,
        private readonly string $resource,
        float $ttl,
        private readonly bool $autoRelease,
    ) {
        $this->token = bin2hex(random_bytes(6));
        $this->lifetime = (int) ($ttl * 1e9);
    }

    public function __destruct()
    {
        if ($this->autoRelease && $this->deadline !== 0) {
            $this->release();
        }
    }

    public function acquire(bool $exclusive, ?float $wait): bool
    {
        $sent = (int) hrtime(true);
        $fencing = $this->table->change($this->resource, function (array &$state, int $now) use ($exclusive): ?int {
            $others = array_diff_key($state['holders'], [$this->token => true]);
            if ($exclusive ? $others !== [] : !\in_array($state['writer'], [null, $this->token], true)) {
                return null;
            }
            $wasWriter = $state['writer'] === $this->token;
            $state['writer'] = $exclusive ? $this->token : null;
            $state['fencing'] += (int) ($exclusive && !$wasWriter);
            $state['holders'][$this->token] = $now + $this->lifetime;

            return $state['fencing'];
        });
        if ($fencing === null) {
            return false;
        }
        $this->exclusive = $exclusive;
        $this->fencing = $fencing;
        $this->noteRenewal($sent);

        return true;
    }

    public function waiting(): Waiting
    {
        return Waiting::NotAtAll;
    }

    public function isCertain(): bool
    {
        if ($this->breakage === Breakage::BelievesItself && $this->deadline !== 0) {
            return true;
        }
        $this->work();

        return hrtime(true) < $this->deadline;
    }

    public function refresh(): bool
    {
        return $this->renew();
    }

    public function release(): void
    {
        $this->deadline = 0;
        $this->due = \PHP_INT_MAX;
        $this->table->change($this->resource, function (array &$state, int $now): void {
            unset($state['holders'][$this->token]);
            if ($this->strikes(Breakage::RenewsTheReleased)) {
                // As if a renewal came behind, which takes what it does not find.
                $state['holders'][$this->token] = $now + $this->lifetime;
            }
        });
    }

    public function fencingToken(): ?int
    {
        return $this->exclusive ? $this->fencing : null;
    }

    public function onLost(\Closure $told): void
    {
        $this->told = $told;
    }

    public function sleep(int $time): void
    {
        $end = hrtime(true) + $time * 1000;
        do {
            $this->work();
            usleep(min($time, self::LOOK));
        } while (hrtime(true) < $end);
    }

    private function work(): void
    {
        if ($this->deadline !== 0 && hrtime(true) >= $this->deadline && $this->breakage !== Breakage::BelievesItself) {
            $this->lose();
        }
        if (hrtime(true) >= $this->due) {
            $this->renew();
        }
    }

    private function renew(): bool
    {
        $sent = (int) hrtime(true);
        $held = $this->table->change($this->resource, function (array &$state, int $now): bool {
            if (!isset($state['holders'][$this->token]) && $this->breakage !== Breakage::RevivesTheLost) {
                return false;
            }
            $state['holders'][$this->token] = $now + $this->lifetime;

            return true;
        });
        if ($this->strikes(Breakage::CountsFromTheAnswer)) {
            usleep(intdiv($this->lifetime, 800)); // The answer is late.
            $sent = (int) hrtime(true);
        }
        if ($held) {
            $this->noteRenewal($sent);
        } else {
            $this->lose();
        }

        return $held;
    }

    private function noteRenewal(int $sent): void
    {
        $this->deadline = $sent + $this->lifetime;
        $this->due = $sent + ($this->breakage === Breakage::RenewsTooLate
            ? 2 * $this->lifetime
            : intdiv($this->lifetime, 3));
    }

    private function lose(): void
    {
        $wasHeld = $this->deadline !== 0;
        $this->deadline = 0;
        if ($this->breakage !== Breakage::RevivesTheLost) {
            $this->due = \PHP_INT_MAX;
        }
        if ($wasHeld && $this->told !== null && $this->breakage !== Breakage::TellsNobody) {
            ($this->told)('-');
        }
    }

    private function strikes(Breakage $breakage): bool
    {
        return $this->breakage === $breakage && random_int(1, self::RARITY) === 1;
    }
}
