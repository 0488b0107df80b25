<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Worker\Handle;
use Latch\Tests\Fault\Worker\Subject;
use Latch\Tests\Fault\Worker\SymfonyHandle;
use Latch\Tests\Fault\Worker\TablePlace;
use Latch\Tests\Fault\Worker\Waiting;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;

/**
 * Symfony's Lock on rows of a table in SQLite, broken on purpose.
 */
final class BrokenTableSubject implements Subject
{
    private ?\PDO $pdo = null;

    public function __construct(private readonly TablePlace $place, private readonly Breakage $breakage)
    {
    }

    public function traits(): array
    {
        return [
            Teller::EXPIRING, Teller::EXCLUSIVE_ONLY, Teller::WHOLE_SECONDS, Teller::TTL_IN_SECONDS, Teller::TWO_STEPS,
            Teller::HIDES_ERRORS,
        ];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->pdo ??= new \PDO($this->place->dsn);
        $store = new BrokenTableStore($this->pdo, $this->breakage, (int) $ttl);

        return new SymfonyHandle(
            new Lock(new Key($resource), $store, $ttl, $autoRelease),
            Waiting::NotAtAll,
            rounding: 0.002,
        );
    }

    public function recover(): void
    {
        $this->pdo = null;
    }
}
