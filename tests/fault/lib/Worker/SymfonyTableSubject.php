<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Tests\Fault\Record\Teller;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\Store\PdoStore;

/**
 * Symfony's PdoStore, of any release.
 */
final class SymfonyTableSubject implements Subject
{
    /** So much earlier than their TTL locks end in s: an integer column rounds; SQLite counts milliseconds. */
    private const ROUNDINGS = ['pgsql' => 0.501, 'mysql' => 0.501, 'sqlite' => self::MARGIN];

    /** Release 5.4 has a clock of whole seconds, which cuts, or rounds: so much ahead, in s, is one that cuts. */
    private const SHIFTS = ['pgsql' => 0.5, 'mysql' => 0.0, 'sqlite' => 0.0];
    /** By SQLite's clock of milliseconds, and the cut of times in PHP; in s. */
    private const MARGIN = 0.002;

    private ?\PDO $pdo = null;

    /** @param bool $countsSeconds whether it is release 5.4 */
    public function __construct(private readonly TablePlace $place, private readonly bool $countsSeconds = false)
    {
    }

    public function traits(): array
    {
        return [
            Teller::EXPIRING, Teller::EXCLUSIVE_ONLY, Teller::WHOLE_SECONDS, Teller::TTL_IN_SECONDS, Teller::TWO_STEPS,
            // A row that ends before its TTL may do so between the two statements: the attempt had it, and is refused.
            Teller::SINGLY, Teller::REVIVES,
            // In PostgreSQL it has one statement, whose errors it throws.
            ...$this->place->driver() === 'pgsql' && !$this->countsSeconds ? [] : [Teller::HIDES_ERRORS],
        ];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        return $this->lockOf(new Key($resource), $ttl, $autoRelease);
    }

    public function lockOf(Key $key, float $ttl, bool $autoRelease): SymfonyHandle
    {
        $this->pdo ??= $this->connect();
        // A process that is killed between save() and putOffExpiration() leaves a lock with the store's TTL.
        $store = new PdoStore($this->pdo, [], $this->place->gc, (int) ceil($ttl));

        return new SymfonyHandle(
            // That of 5.4 does not release what has expired for itself, though not for others.
            new Lock($key, $store, $ttl, $autoRelease && !$this->countsSeconds),
            Waiting::Endlessly,
            rounding: $this->countsSeconds ? self::MARGIN : self::ROUNDINGS[$this->place->driver()],
            shift: $this->countsSeconds ? self::SHIFTS[$this->place->driver()] : null,
            autoRelease: $autoRelease && $this->countsSeconds,
        );
    }

    public function recover(): void
    {
        $this->pdo = null;
    }

    private function connect(): \PDO
    {
        return new \PDO($this->place->dsn, null, null, [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]);
    }
}
