<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

use Latch\PersistingStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Store\SemaphoreStore;
use Latch\Store\SharedMemoryStore;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;

/**
 * A store in Shared/StoresTest: how it is opened, and what it can. Another store is one line of all().
 */
final class StoreFixture
{
    public const BLOCKING = 1;
    public const SHARED = 2;
    /** Its locks end with their TTL. */
    public const EXPIRING = 4;
    /** A key that was stored can be handed over. */
    public const SERIALIZABLE = 8;
    /** A renewal of what somebody else holds is a conflict. */
    public const RENEWING = 16;
    /** A key can be saved twice, and deleted once. */
    public const REENTRANT = 32;
    /** Other stores on the same place know a key that this one has stored. */
    public const COMMON = 64;
    /** A promotion that conflicts may lose the shared lock, as flock(2) has it. */
    public const LOSING = 128;

    /**
     * @param \Closure(string): PersistingStoreInterface $open of a directory of the test's
     */
    private function __construct(public readonly \Closure $open, private readonly int $abilities)
    {
    }

    public function can(int $ability): bool
    {
        return ($this->abilities & $ability) !== 0;
    }

    /**
     * @return iterable<string, array{self}>
     */
    public static function all(): iterable
    {
        $local = self::REENTRANT | self::COMMON;
        yield 'FlockStore' => [new self(
            static fn (string $directory) => new FlockStore($directory),
            $local | self::BLOCKING | self::SHARED | (Subject::mode() === 'oracle' ? self::LOSING : 0),
        )];
        yield 'InMemoryStore' => [new self(
            static fn () => new InMemoryStore(),
            self::REENTRANT | self::SHARED | self::SERIALIZABLE,
        )];
        yield 'SemaphoreStore' => [new self(static fn () => new SemaphoreStore(), $local | self::BLOCKING)];
        if (Subject::mode() !== 'oracle') { // Symfony has none
            yield 'SharedMemoryStore' => [new self(
                static fn (string $directory) => new SharedMemoryStore("$directory/memory", 1000),
                $local | self::BLOCKING | self::SHARED,
            )];
        }
        yield 'RedisStore' => [new self(
            static fn () => Client::store(Servers::running()->port),
            $local | self::SHARED | self::EXPIRING | self::SERIALIZABLE | self::RENEWING,
        )];
        foreach (PostgreSql::CLIENTS as $client) {
            yield "PostgreSQL by $client" => [new self(
                static fn () => PostgreSql::store(PostgreSql::server()->port, $client),
                self::BLOCKING | self::SHARED | self::RENEWING,
            )];
        }
    }
}
