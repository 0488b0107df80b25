<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\SemaphoreInterface;

/**
 * Counting semaphores with the method by which the benchmarks make locks. Latch and Symfony have the same classes
 * under different namespaces; what is said here of Latch's holds for Symfony's.
 */
final class PermitLocks
{
    /** @var SemaphoreFactory */
    private readonly object $factory;

    /**
     * @param mixed $connection what the subject's store is made on: a DSN, or a client object
     * @param int   $limit      of each semaphore
     */
    public function __construct(Subject $subject, mixed $connection, private readonly int $limit)
    {
        $namespace = 'Latch\Semaphore';
        if ($subject === Subject::Symfony) {
            require_once (string) getenv('LATCH_SEMAPHORE');
            $namespace = 'Symfony\Component\Semaphore';
        }
        [$factory, $store] = ["$namespace\\SemaphoreFactory", "$namespace\\Store\\RedisStore"];
        $this->factory = new $factory(new $store($connection));
    }

    /** @return SemaphoreInterface with the methods of a lock that the benchmarks call; its weight is 1 */
    public function createLock(string $resource, float $ttl = 300.0): object
    {
        return $this->factory->createSemaphore($resource, $this->limit, 1, $ttl);
    }
}
