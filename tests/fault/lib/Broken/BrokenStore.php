<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\SharedLockStoreInterface;

/**
 * A store of expiring locks with fencing tokens that has one fault, most often now and then; or none: then
 * nothing may be found.
 */
final class BrokenStore implements SharedLockStoreInterface
{
    /** Of so many calls one goes wrong. */
    private const RARITY = 20;

    /** Under which name the fencing token is in a key. */
    private const FENCING = 'fencing';

    public function __construct(
        private readonly Table $table,
        private readonly Breakage $breakage,
        private readonly float $initialTtl,
    ) {
    }

    public function save(Key $key): void
    {
        $token = $this->token($key);
        $key->reduceLifetime($this->initialTtl);
        $granted = $this->table->change((string) $key, function (array &$state, int $now) use ($key, $token): bool {
            $others = array_diff_key($state['holders'], [$token => true]);
            if (
                $this->strikes(Breakage::ForgetsToCheck)
                || ($this->breakage === Breakage::PromotesBesideReaders && isset($state['holders'][$token]))
            ) {
                $others = [];
            }
            if ($others !== []) {
                return false;
            }
            $state['holders'][$token] = $this->expiry($now, $this->initialTtl);
            if ($state['writer'] !== $token) {
                $state['writer'] = $token;
                $key->setState(self::FENCING, $this->next($state['fencing']));
            }

            return !$this->strikes(Breakage::TakesAndDenies);
        });
        if (!$granted) {
            throw new LockConflictedException();
        }
    }

    public function saveRead(Key $key): void
    {
        $token = $this->token($key);
        $key->reduceLifetime($this->initialTtl);
        $granted = $this->table->change((string) $key, function (array &$state, int $now) use ($token): bool {
            if (!\in_array($state['writer'], [null, $token], true) && !$this->strikes(Breakage::LetsReadersIn)) {
                return false;
            }
            $state['holders'][$token] = $this->expiry($now, $this->initialTtl);
            if ($state['writer'] === $token) {
                $state['writer'] = null;
            }

            return true;
        });
        if (!$granted) {
            throw new LockConflictedException();
        }
        $key->setState(self::FENCING, null);
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $token = $this->token($key);
        $key->reduceLifetime($ttl);
        $granted = $this->table->change((string) $key, function (array &$state, int $now) use ($token, $ttl): bool {
            if (!isset($state['holders'][$token]) && $this->breakage !== Breakage::RevivesTheExpired) {
                return false;
            }
            $state['holders'][$token] = $this->expiry($now, $ttl);

            return true;
        });
        if (!$granted) {
            throw new LockConflictedException();
        }
    }

    public function delete(Key $key): void
    {
        $token = $this->token($key);
        $this->table->change((string) $key, function (array &$state) use ($token): void {
            if ($this->strikes(Breakage::KeepsTheReleased)) {
                return;
            }
            if (!isset($state['holders'][$token]) && $this->breakage === Breakage::ReleasesAnothers) {
                // Deletes the entry without checking its owner.
                $state['holders'] = [];
            }
            unset($state['holders'][$token]);
            if ($state['writer'] === $token) {
                $state['writer'] = null;
            }
        });
        $key->removeState(self::class);
    }

    /** The fencing token of a key that holds exclusively. */
    public static function fencingToken(Key $key): ?int
    {
        $token = $key->hasState(self::FENCING) ? $key->getState(self::FENCING) : null;

        return \is_int($token) ? $token : null;
    }

    public function exists(Key $key): bool
    {
        return $key->hasState(self::class) && $this->table->change(
            (string) $key,
            fn (array &$state): bool => isset($state['holders'][$this->token($key)]),
        );
    }

    private function token(Key $key): string
    {
        if (!$key->hasState(self::class)) {
            $key->setState(self::class, bin2hex(random_bytes(8)));
        }
        /** @var string $token */
        $token = $key->getState(self::class);

        return $token;
    }

    private function expiry(int $now, float $ttl): int
    {
        return $now + (int) ($ttl * 1e9 * ($this->breakage === Breakage::ExpiresEarly ? 0.5 : 1));
    }

    /** The next fencing token after the last one that was given. */
    private function next(int &$last): int
    {
        if (!$this->strikes(Breakage::RepeatsTokens)) {
            ++$last;
        }

        // As if some came from a block of numbers that a process has for itself.
        return $this->strikes(Breakage::MixesTokensUp) ? max(1, $last - 3) : $last;
    }

    private function strikes(Breakage $breakage): bool
    {
        return $this->breakage === $breakage && random_int(1, self::RARITY) === 1;
    }
}
