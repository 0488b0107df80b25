<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyOwn;

use PHPUnit\Framework\Test;
use PHPUnit\Framework\TestCase;
use PHPUnit\Framework\TestSuite;

/**
 * Symfony 6.4's own tests, those with servers included, but for some.
 */
final class Symfony64OwnTest
{
    /** Class, method, or method with the first of its arguments, and why it does not run. */
    private const LEFT_OUT = [
        'Store\MongoDbStoreFactoryTest' => 'needs an extension that Debian 12 does not have',
        'Store\MongoDbStoreTest' => 'the same, and a server',
        'Store\RedisClusterStoreTest' => 'needs a cluster',
        'Store\RelayStoreTest' => 'needs an extension that Debian 12 does not have',
        'Store\ZookeeperStoreFactoryTest' => 'the same',
        'Store\ZookeeperStoreTest' => 'the same',

        // Symfony skips them itself.
        'Store\DoctrineDbalStoreTest::testAbortAfterExpiration' => 'a slow network is too hard to simulate',
        'Store\MemcachedStoreTest::testAbortAfterExpiration' => 'the same',
        'Store\PdoStoreTest::testAbortAfterExpiration' => 'the same',
        'Store\FlockStoreTest::testConstructWhenRepositoryCannotBeCreated' => 'is not for root, as whom this runs',
        'Store\FlockStoreTest::testConstructWhenRepositoryIsNotWriteable' => 'the same',

        // Differences on purpose.
        'Store\PostgreSqlStoreTest::testInvalidDriver' => 'says the same, but when the store is made',
        'Store\PostgreSqlStoreTest::testSaveAfterConflict'
            => 'has one key in two stores of one DSN, which have one session: it is held in both',
        'Store\PostgreSqlStoreTest::testWaitAndSaveAfterConflictReleasesLockFromInternalStore'
            => 'a store, too, throws nothing but exceptions of the component',
        'Store\PostgreSqlStoreTest::testWaitAndSaveReadAfterConflictReleasesLockFromInternalStore' => 'the same',
        'Store\DoctrineDbalPostgreSqlStoreTest::testWaitAndSaveAfterConflictReleasesLockFromInternalStore'
            => 'the same',
        'Store\DoctrineDbalPostgreSqlStoreTest::testWaitAndSaveReadAfterConflictReleasesLockFromInternalStore'
            => 'the same',
    ];

    private const TESTS = 'Symfony\Component\Lock\Tests\\';

    public static function suite(): TestSuite
    {
        $suite = new TestSuite('Symfony 6.4');
        $folder = (string) getenv('LATCH_SYMFONY_TESTS');
        foreach ([...glob("$folder/*Test.php"), ...glob("$folder/*/*Test.php")] as $file) {
            $name = strtr(substr($file, \strlen($folder) + 1, -4), '/', '\\');
            if (isset(self::LEFT_OUT[$name])) {
                continue;
            }
            $tests = new TestSuite(new \ReflectionClass(self::TESTS . $name));
            if (self::isRun($tests)) {
                $suite->addTest($tests);
            }
        }

        return $suite;
    }

    private static function isRun(Test $test): bool
    {
        if ($test instanceof TestSuite) {
            $test->setTests(array_values(array_filter($test->tests(), self::isRun(...))));

            return $test->tests() !== [];
        }
        /** @var TestCase $test */
        $name = substr($test::class . '::' . $test->getName(false), \strlen(self::TESTS));
        $first = $test->getProvidedData()[0] ?? null;

        return !isset(self::LEFT_OUT[$name]) && !(\is_string($first) && isset(self::LEFT_OUT["$name($first)"]));
    }
}
