<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\LockFactory;
use Latch\Store\RedisStore;
use Latch\Tests\Fault\Record\Teller;

/**
 * Locks on some of the resources at once, all or none.
 */
final class MultiLockSubject implements Subject
{
    private ?LockFactory $factory = null;

    /**
     * @param string       $where     a DSN
     * @param list<string> $resources those that there are
     */
    public function __construct(private readonly string $where, private readonly array $resources)
    {
    }

    public function traits(): array
    {
        return [Teller::EXPIRING, Teller::FENCING, Teller::LATE_RELEASE, Teller::FORKS];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->factory ??= new LockFactory(new RedisStore($this->where));
        $others = array_diff($this->resources, [$resource]);
        shuffle($others);
        $modes = [];
        foreach ([$resource, ...\array_slice($others, 0, random_int(1, 3))] as $member) {
            $modes[$member] = random_int(1, 100) <= 70 ? 'write' : 'read';
        }

        ksort($modes, SORT_STRING);

        return new PrimitiveHandle(
            $this->factory->createMultiLock($modes, $ttl, $autoRelease),
            static fn (bool $exclusive): array => [implode('+', array_map(
                static fn (string $member, string $mode): string => $member . ($exclusive && $mode === 'write' ? ':x' : ':s'),
                array_keys($modes),
                $modes,
            )), 'm'],
        );
    }

    public function recover(): void
    {
    }
}
