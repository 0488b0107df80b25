<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Worker\Handle;
use Latch\Tests\Fault\Worker\Subject;
use Latch\Tests\Fault\Worker\SymfonyHandle;
use Latch\Tests\Fault\Worker\Waiting;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;

/**
 * Symfony's Lock on a store, or a lock that is handed over, broken on purpose.
 */
final class BrokenSubject implements Subject
{
    private readonly Table $table;

    public function __construct(string $directory, private readonly Breakage $breakage)
    {
        $this->table = new Table($directory);
    }

    public function traits(): array
    {
        return [Teller::EXPIRING, Teller::FENCING, ...match (true) {
            $this->breakage->handsOver() => [Teller::FIRST_COME],
            $this->breakage->keeps() => [Teller::KEPT],
            default => [Teller::TWO_STEPS],
        }];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        if ($this->breakage->handsOver()) {
            return new HandOffHandle($this->table, $this->breakage, $resource, $ttl, $autoRelease);
        }
        if ($this->breakage->keeps()) {
            return new RenewedHandle($this->table, $this->breakage, $resource, $ttl, $autoRelease);
        }
        $key = new Key($resource);

        return new SymfonyHandle(
            new Lock($key, new BrokenStore($this->table, $this->breakage, $ttl), $ttl, $autoRelease),
            Waiting::NotAtAll,
            static fn (): ?int => BrokenStore::fencingToken($key),
        );
    }

    public function recover(): void
    {
    }
}
