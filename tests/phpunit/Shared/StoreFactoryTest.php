<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\InvalidArgumentException;
use Latch\Key;
use Latch\Lock;
use Latch\Store\StoreFactory;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\RequiresPhpExtension;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * StoreFactory makes the stores that Latch has of the DSNs that Symfony takes, and refuses alike.
 */
final class StoreFactoryTest extends TestCase
{
    #[TestWith(['flock', 'FlockStore'])]
    #[TestWith(['in-memory', 'InMemoryStore'])]
    #[TestWith(['null', 'NullStore'])]
    #[TestWith(['pgsql+advisory:host=localhost;dbname=test', 'PostgreSqlStore'])]
    #[TestWith(['pgsql+advisory://localhost/test', 'DoctrineDbalPostgreSqlStore'])]
    #[TestWith(['postgres+advisory://localhost/test', 'DoctrineDbalPostgreSqlStore'])]
    #[TestWith(['postgresql+advisory://localhost/test', 'DoctrineDbalPostgreSqlStore'])]
    public function testADsnSaysWhichStore(string $dsn, string $class): void
    {
        self::assertSame(Subject::name("Store\\$class"), StoreFactory::createStore($dsn)::class);
    }

    #[RequiresPhpExtension('sysvsem')]
    public function testSemaphores(): void
    {
        $resource = 'latch test ' . bin2hex(random_bytes(8));
        $lock = new Lock(new Key($resource), StoreFactory::createStore('semaphore'));

        self::assertSame(Subject::name('Store\SemaphoreStore'), StoreFactory::createStore('semaphore')::class);
        self::assertTrue($lock->acquire());
        self::assertFalse((new Lock(new Key($resource), StoreFactory::createStore('semaphore')))->acquire());
        $lock->release();
    }

    public function testADirectoryForFlock(): void
    {
        $directory = $this->directory() . '/made on demand';
        $store = StoreFactory::createStore("flock://$directory");
        $lock = new Lock(new Key('r'), $store);

        self::assertTrue($lock->acquire());
        self::assertFileExists($this->lockFile('r', $directory));
        self::assertFalse((new Lock(new Key('r'), StoreFactory::createStore("flock://$directory")))->acquire());
        $lock->release();
    }

    public function testADirectoryForFlockThatCannotBeUsed(): void
    {
        foreach (['', '/proc/latch'] as $directory) {
            $this->assertThrows(
                InvalidArgumentException::class,
                "The FlockStore directory \"$directory\" does not exists and cannot be created.",
                static fn () => StoreFactory::createStore("flock://$directory"),
            );
        }
    }

    /**
     * @return iterable<string, array{\Closure(int): string}>
     */
    public static function forms(): iterable
    {
        yield 'PDO form' => [static fn (int $port): string => PostgreSql::dsn($port)];
        yield 'URL' => [static fn (int $port): string => PostgreSql::url($port)];
    }

    /**
     * @param \Closure(int): string $form
     */
    #[DataProvider('forms')]
    public function testAdvisoryLocks(\Closure $form): void
    {
        $server = PostgreSql::server();
        $key = new Key('r');
        $store = StoreFactory::createStore($form($server->port));
        $store->save($key);

        self::assertTrue($store->exists($key));
        self::assertSame(1, $server->held());
        self::assertFalse((new Lock(new Key('r'), PostgreSql::store($server->port, 'PDO')))->acquire());
        $store->delete($key);
        self::assertSame(0, $server->held());
    }

    #[TestWith([''])]
    #[TestWith(['nonsense'])]
    #[TestWith(['FLOCK'])]
    #[TestWith(['flock:'])]
    #[TestWith(['flock:/tmp'])]
    #[TestWith(['flocks'])]
    #[TestWith(["flock\0"])]
    #[TestWith(['semaphores'])]
    #[TestWith(['in-memory:'])]
    #[TestWith([' null'])]
    #[TestWith(['redis'])]
    #[TestWith(['http://user:password@localhost'])]
    #[TestWith(['user:password@localhost'])]
    public function testADsnThatNobodyServes(string $dsn): void
    {
        $e = $this->assertThrows(InvalidArgumentException::class, null, static fn () => StoreFactory::createStore($dsn));

        // Under its own names Latch goes on, and tells what is wrong.
        self::assertStringStartsWith('No lock store supports the given DSN', $e->getMessage());
        self::assertStringNotContainsString('password', $e->getMessage());
    }

    public function testAnObjectThatNobodyServes(): void
    {
        $objects = [new \stdClass(), new \ArrayObject(), static fn () => 1, new class () {
        }, new class () extends \ArrayObject {
        }, new Key('r')];
        foreach ($objects as $object) {
            $this->assertThrows(
                InvalidArgumentException::class,
                'Unsupported Connection: "' . get_debug_type($object) . '".',
                static fn () => StoreFactory::createStore($object),
            );
        }
    }

    #[TestWith([null])]
    #[TestWith([[]])]
    #[TestWith([42])]
    #[TestWith([1.5])]
    #[TestWith([true])]
    public function testWhatIsNeitherADsnNorAnObject(mixed $connection): void
    {
        $e = $this->assertThrows(\TypeError::class, null, static fn () => StoreFactory::createStore($connection));

        self::assertStringContainsString(
            '::createStore(): Argument #1 ($connection) must be of type object|string, '
                . get_debug_type($connection) . ' given',
            $e->getMessage(),
        );
    }

    #[TestWith(['nonsense://user:password@localhost'])]
    #[TestWith(['flock:///proc/password'])]
    public function testTheDsnIsNotInABacktrace(string $dsn): void
    {
        $before = ini_set('zend.exception_ignore_args', '0');
        try {
            $e = $this->assertThrows(
                InvalidArgumentException::class,
                null,
                static fn () => StoreFactory::createStore($dsn),
            );
        } finally {
            ini_set('zend.exception_ignore_args', (string) $before);
        }

        $arguments = array_column($e->getTrace(), 'args', 'function')['createStore'];
        self::assertCount(1, $arguments);
        self::assertInstanceOf(\SensitiveParameterValue::class, $arguments[0]);
    }

    public function testAFactoryMayBeExtended(): void
    {
        $factory = new class () extends StoreFactory {
            public static function createStore(object|string $connection): \Latch\PersistingStoreInterface
            {
                return parent::createStore($connection === 'shop' ? 'in-memory' : $connection);
            }
        };

        self::assertSame(Subject::name('Store\InMemoryStore'), $factory::createStore('shop')::class);
        self::assertSame(Subject::name('Store\NullStore'), $factory::createStore('null')::class);
        self::assertInstanceOf(StoreFactory::class, new StoreFactory());
    }
}
