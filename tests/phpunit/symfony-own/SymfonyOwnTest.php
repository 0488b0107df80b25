<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyOwn;

use PHPUnit\Framework\TestBuilder;
use PHPUnit\Framework\TestSuite;
use Symfony\Component\Lock\Tests;
use Symfony\Component\Semaphore\Tests as SemaphoreTests;

/**
 * Which of Symfony's own tests run, and why the others do not.
 */
final class SymfonyOwnTest
{
    private const RUN = [
        Tests\KeyTest::class,
        Tests\LockTest::class,
        Tests\LockFactoryTest::class,
        Tests\Store\FlockStoreTest::class,
        Tests\Store\InMemoryStoreTest::class,
        Tests\Store\SemaphoreStoreTest::class,
        Tests\Store\StoreFactoryTest::class,
        Tests\Strategy\ConsensusStrategyTest::class,
        Tests\Strategy\UnanimousStrategyTest::class,
        SemaphoreTests\SemaphoreTest::class,
        SemaphoreTests\SemaphoreFactoryTest::class,
        SemaphoreTests\Store\RedisStoreTest::class,
        SemaphoreTests\Store\StoreFactoryTest::class,
    ];

    /** Of these only what the class itself has: what it inherits from traits needs a Redis server. */
    private const RUN_WITHOUT_TRAITS = [
        Tests\Store\CombinedStoreTest::class,
    ];

    // Not run at all are the tests of the stores of locks that Latch does not provide or that need a server or a
    // database (Doctrine…, Memcached…, MongoDb…, Pdo…, PostgreSql…, Predis…, Redis…, RetryTillSave…,
    // Zookeeper…).

    /** Deliberate differences: class, method, and why it cannot pass. */
    private const DIFFERENT = [
        // They let a mock of save() return true, which the return type of Symfony 7's interface forbids.
        Tests\LockFactoryTest::class => ['testCreateLock', 'testCreateLockFromKey'],
        SemaphoreTests\SemaphoreFactoryTest::class => ['testCreateSemaphore', 'testCreateSemaphoreFromKey'],
        // It needs classes of an older symfony/cache.
        SemaphoreTests\Store\StoreFactoryTest::class => ['testCreateRedisProxyStore', 'testCreateRedisAsDsnStore'],
    ];

    public static function suite(): TestSuite
    {
        $suite = new TestSuite('Symfony 5.4');
        foreach ([...self::RUN, ...self::RUN_WITHOUT_TRAITS] as $name) {
            $class = new \ReflectionClass($name);
            foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
                if (self::isRun($class, $method)) {
                    $suite->addTest((new TestBuilder())->build($class, $method->name));
                }
            }
        }

        return $suite;
    }

    /**
     * @param \ReflectionClass<object> $class
     */
    private static function isRun(\ReflectionClass $class, \ReflectionMethod $method): bool
    {
        return str_starts_with($method->name, 'test')
            && !\in_array($method->name, self::DIFFERENT[$class->name] ?? [], true)
            && ($method->getFileName() === $class->getFileName()
                || !\in_array($class->name, self::RUN_WITHOUT_TRAITS, true));
    }
}
