<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Worker\Handle;
use Latch\Tests\Fault\Worker\Subject;
use Latch\Tests\Fault\Worker\SymfonyHandle;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;

/**
 * Symfony's Lock on a store that is broken on purpose.
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
        return [Teller::EXPIRING, Teller::FENCING, Teller::TWO_STEPS];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $key = new Key($resource);

        return new SymfonyHandle(
            new Lock($key, new BrokenStore($this->table, $this->breakage, $ttl), $ttl, $autoRelease),
            false,
            static fn (): ?int => BrokenStore::fencingToken($key),
        );
    }

    public function recover(): void
    {
    }
}
