<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use Psr\Log\LoggerAwareInterface;
use Psr\Log\LoggerAwareTrait;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\SharedLockInterface;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\InMemoryStore;

/**
 * With latch.symfony=1 the classes have Symfony's names, and Latch's are aliases: an application written
 * for symfony/lock notices nothing.
 */
final class DropInTest extends TestCase
{
    public function testTheNamesAreSymfonysAndLatchsAreAliases(): void
    {
        foreach (Subject::CLASSES as $name) {
            foreach ([Subject::SYMFONY, Subject::LATCH] as $namespace) {
                $class = new \ReflectionClass($namespace . $name);
                self::assertSame(Subject::SYMFONY . $name, $class->getName());
                self::assertSame('latch', $class->getExtensionName());
            }
        }
        $lock = (new LockFactory(new InMemoryStore()))->createLock('r');
        self::assertSame('Symfony\Component\Lock\Lock', get_class($lock));
        self::assertSame(Lock::class, (new \Latch\Lock(new Key('r'), new InMemoryStore()))::class);
        self::assertInstanceOf(\Latch\SharedLockInterface::class, $lock);
        self::assertInstanceOf(SharedLockInterface::class, $lock);
    }

    public function testStoresMayBeWrittenForEitherName(): void
    {
        $symfony = new class () implements PersistingStoreInterface {
            use NothingHeld;
        };
        $latch = new class () implements \Latch\PersistingStoreInterface {
            use NothingHeldByLatchsNames;
        };

        foreach ([$symfony, $latch] as $store) {
            self::assertTrue((new Lock(new Key('r'), $store))->acquire());
            self::assertTrue((new \Latch\Lock(new \Latch\Key('r'), $store))->acquire());
        }
    }

    /**
     * Stores written for Symfony before version 6 declare no return types. PHP tells them by a
     * deprecation, which is all that may happen.
     */
    public function testAStoreWithoutReturnTypesCanBeDeclared(): void
    {
        $store = null;
        $errors = $this->errorsOf(static function () use (&$store): void {
            $store = require __DIR__ . '/../Support/old-store.php';
        });

        self::assertInstanceOf(PersistingStoreInterface::class, $store);
        foreach ($errors as $error) {
            self::assertStringContainsString('#[\ReturnTypeWillChange]', $error);
        }
        $lock = new Lock(new Key('r'), $store);
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isAcquired());
        self::assertFalse((new Lock(new Key('r'), $store))->acquire());
        $lock->release();
    }

    /**
     * @return iterable<string, array{\Closure(Key): void, string}>
     */
    public static function keys(): iterable
    {
        yield 'a new one' => [static fn () => null, ''];
        yield 'with states' => [
            static function (Key $key): void {
                $key->setState('Symfony\Component\Lock\Store\RedisStore', 'token');
                $key->setState('list', [1, 2.5, null, true, ['x' => 'y']]);
            },
            '$key->setState("Symfony\\\\Component\\\\Lock\\\\Store\\\\RedisStore", "token");'
                . '$key->setState("list", [1, 2.5, null, true, ["x" => "y"]]);',
        ];
    }

    #[DataProvider('keys')]
    public function testASerialisedKeyIsSymfonysByteForByte(\Closure $change, string $code): void
    {
        $key = new Key("the \"resource\" \xc3\xbc");
        $change($key);
        $theirs = $this->inPurePhp(
            '$key = new Symfony\Component\Lock\Key("the \"resource\" \xc3\xbc");' . "$code echo serialize(\$key);",
        );

        self::assertSame($theirs, serialize($key));
        self::assertEquals($key->__serialize(), unserialize($theirs)->__serialize());
    }

    public function testAKeyGoesToAWorkerWithoutTheExtensionAndBack(): void
    {
        $store = new InMemoryStore();
        $key = new Key('r');
        $store->save($key);
        $key->reduceLifetime(123.456);
        $text = serialize($key);

        $back = $this->inPurePhp(
            '$key = unserialize(' . var_export($text, true) . ');'
                . 'if (!$key instanceof Symfony\Component\Lock\Key || $key->isExpired()) { exit(1); }'
                . 'echo serialize($key);',
        );
        self::assertSame($text, $back);
        self::assertTrue($store->exists(unserialize($back)));
    }

    #[TestWith(['LATCH_SYMFONY_6'])]
    #[TestWith(['LATCH_SYMFONY_8'])]
    public function testAKeyGoesToWorkersOnOtherReleasesAndBack(string $variable): void
    {
        $vendor = getenv($variable);
        self::assertNotFalse($vendor, "$variable must name a vendor folder with symfony/lock.");
        $store = new InMemoryStore();
        $key = new Key('r');
        $store->save($key);
        $key->reduceLifetime(123.456);

        $back = unserialize($this->inPurePhp(
            '$key = unserialize(' . var_export(serialize($key), true) . ');'
                . 'if ((string) $key !== "r" || $key->isExpired()) { exit(1); }'
                . 'echo serialize($key);',
            $vendor,
        ));
        self::assertInstanceOf(Key::class, $back);
        self::assertTrue($store->exists($back));
        self::assertEqualsWithDelta($key->getRemainingLifetime(), $back->getRemainingLifetime(), 1.0);
    }

    public function testAKeyOfAnOlderReleaseIsRead(): void
    {
        $n = "\0Symfony\\Component\\Lock\\Key\0";
        $text = 'O:26:"Symfony\Component\Lock\Key":4:{'
            . "s:36:\"{$n}resource\";s:1:\"r\";"
            . "s:40:\"{$n}expiringTime\";d:4102444800.5;"
            . "s:33:\"{$n}state\";a:1:{s:1:\"a\";s:1:\"b\";}"
            . "s:40:\"{$n}serializable\";b:1;}";

        self::assertSame(
            ['resource' => 'r', 'expiringTime' => 4102444800.5, 'state' => ['a' => 'b']],
            unserialize($text)->__serialize(),
        );
    }

    public function testAnExceptionIsCaughtByEitherName(): void
    {
        $store = new InMemoryStore();
        $store->save(new Key('r'));
        foreach ([LockConflictedException::class, \Latch\Exception\LockConflictedException::class] as $class) {
            try {
                $store->save(new Key('r'));
                self::fail('Nothing was thrown.');
            } catch (\Exception $e) {
                self::assertInstanceOf($class, $e);
                self::assertSame(LockConflictedException::class, $e::class);
            }
        }
    }

    public function testLocksAndFactoriesAreAwareOfLoggers(): void
    {
        $logger = new RecordingLogger();
        foreach ([new Lock(new Key('r'), new InMemoryStore()), new LockFactory(new InMemoryStore())] as $object) {
            self::assertInstanceOf(LoggerAwareInterface::class, $object);
            $object->setLogger($logger);
        }
    }

    public function testTheTraitOfPsrLogFitsTheInterface(): void
    {
        $logger = new RecordingLogger();
        $object = new class () implements LoggerAwareInterface {
            use LoggerAwareTrait;

            public function logger(): ?object
            {
                return $this->logger;
            }
        };
        $object->setLogger($logger);

        self::assertSame($logger, $object->logger());
    }

    public function testLogLinesNameTheKeyAsBefore(): void
    {
        $logger = new RecordingLogger();
        $lock = new Lock(new Key('r'), new FlockStore($this->directory()));
        $lock->setLogger($logger);
        $lock->acquire();

        self::assertSame('debug', $logger->records[0][0]);
        self::assertInstanceOf(Key::class, $logger->records[0][2]['resource']);
        self::assertSame('Symfony\Component\Lock\Key', $logger->records[0][2]['resource']::class);
    }

    public function testTheModeCannotBeChangedLater(): void
    {
        foreach (['latch.symfony', 'latch.symfony_semaphore'] as $setting) {
            self::assertSame('1', \ini_get($setting));
            self::assertFalse(@ini_set($setting, '0'));
        }
    }
}
