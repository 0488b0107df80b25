<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\LockFactory;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\Store\LockStore;
use Latch\Semaphore\Store\RedisStore;
use Latch\Store\FlockStore;
use Latch\Tests\Fault\Record\Teller;

/**
 * Counting semaphores: in Redis, or as slots in a folder.
 */
final class SemaphoreSubject implements Subject
{
    /** Of each semaphore. */
    private const LIMIT = 5;

    private ?SemaphoreFactory $factory = null;
    private readonly bool $isInFiles;

    /**
     * @param string $where a folder, or a DSN
     * @param bool   $keeps whether permits are renewed in the background
     */
    public function __construct(private readonly string $where, private readonly bool $keeps)
    {
        $this->isInFiles = !str_contains($where, ':');
    }

    public function traits(): array
    {
        return [Teller::FORKS, ...$this->isInFiles ? [Teller::SINGLY, Teller::EXCLUSIVE_ONLY] : [
            Teller::EXPIRING, Teller::WHOLE_SECONDS, Teller::LATE_RELEASE, Teller::FIRST_COME, Teller::EXCLUSIVE_ONLY,
            ...$this->keeps ? [Teller::KEPT] : [],
        ]];
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        $this->factory ??= new SemaphoreFactory($this->isInFiles
            ? new LockStore(new LockFactory(new FlockStore($this->where)))
            : new RedisStore($this->where));
        $weight = random_int(1, 100) <= 70 ? 1 : random_int(1, self::LIMIT);
        $semaphore = $this->factory->createSemaphore($resource, self::LIMIT, $weight, $ttl, $autoRelease);

        return new PrimitiveHandle(
            $this->keeps ? $semaphore->keepAlive() : $semaphore,
            static fn (): array => [$resource, "$weight/" . self::LIMIT],
        );
    }

    public function recover(): void
    {
    }
}
