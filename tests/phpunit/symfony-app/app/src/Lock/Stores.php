<?php

declare(strict_types=1);

namespace App\Lock;

use Symfony\Component\DependencyInjection\Attribute\Target;
use Symfony\Component\Lock\LockFactory;

/**
 * The named locks of config/packages/lock.yaml.
 */
final class Stores
{
    /** @var array<string, LockFactory> */
    private readonly array $factories;

    public function __construct(
        LockFactory $default,
        #[Target('flock.lock.factory')] LockFactory $flock,
        #[Target('semaphore.lock.factory')] LockFactory $semaphore,
        #[Target('redis.lock.factory')] LockFactory $redis,
        #[Target('database.lock.factory')] LockFactory $database,
        #[Target('quorum.lock.factory')] LockFactory $quorum,
        #[Target('mixed.lock.factory')] LockFactory $mixed,
    ) {
        $this->factories = [
            'default' => $default,
            'flock' => $flock,
            'semaphore' => $semaphore,
            'redis' => $redis,
            'database' => $database,
            'quorum' => $quorum,
            'mixed' => $mixed,
        ];
    }

    public function get(string $name): LockFactory
    {
        return $this->factories[$name] ?? throw new \InvalidArgumentException("There is no lock \"$name\".");
    }
}
