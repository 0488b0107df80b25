<?php

declare(strict_types=1);

namespace Latch\Tests\Additions;

use Latch\Exception\InvalidArgumentException;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\Store\MysqlStore;
use Latch\Store\RedisStore;
use Latch\Store\SemaphoreStore;
use Latch\Store\StoreFactory;
use Latch\Tests\MySqlServer;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\Subject;
use Latch\Tests\Support\TestCase;
use PHPUnit\Framework\Attributes\TestWith;

/**
 * StoreFactory: what Symfony's of this release has not, and what it makes of Composer's classes.
 */
final class StoreFactoryTest extends TestCase
{
    #[TestWith(['redis'])]
    #[TestWith(['valkey'])]
    public function testRedisIsServedByLatchItself(string $scheme): void
    {
        $server = Servers::fresh();
        $store = StoreFactory::createStore("$scheme://127.0.0.1:$server->port?timeout=2");
        self::assertSame((new \ReflectionClass(RedisStore::class))->getName(), $store::class);

        $lock = new Lock(new Key('r'), $store, 20.0);
        self::assertTrue($lock->acquire());
        self::assertFalse((new Lock(new Key('r'), Client::store($server->port)))->acquire());
        self::assertFalse($server->lacks('r'));
        $lock->release();
        self::assertTrue($server->lacks('r'));
    }

    public function testALockInRedisExpiresAsSymfonysDoes(): void
    {
        $server = Servers::fresh();
        StoreFactory::createStore($server->dsn())->save($key = new Key('r'));

        self::assertEqualsWithDelta(300.0, $key->getRemainingLifetime(), 30.0);
    }

    #[TestWith(['redis://:secret@localhost?timeout=soon', 'the option "timeout" is a number of seconds'])]
    #[TestWith(['redis://:secret@localhost/shop', 'the database, at the end of the path'])]
    #[TestWith(['pgsql+advisory://:secret@localhost?timeout=soon', 'the option "timeout" is a number of seconds'])]
    #[TestWith(['mysql+advisory:host=localhost;nonsense=1;password=secret', 'the option "nonsense" is unknown'])]
    public function testWhatIsWrongInADsnIsSaid(string $dsn, string $what): void
    {
        $e = $this->assertThrows(
            InvalidArgumentException::class,
            null,
            static fn () => StoreFactory::createStore($dsn),
        );

        self::assertStringContainsString($what, $e->getMessage());
        self::assertStringNotContainsString('secret', (string) $e);
    }

    public function testNamedLocksOfMySql(): void
    {
        $server = new MySqlServer();
        foreach (['MysqlStore' => $server->dsn(), 'DoctrineDbalMysqlStore' => $server->url()] as $class => $dsn) {
            $store = StoreFactory::createStore($dsn);
            self::assertSame(Subject::name("Store\\$class"), $store::class);
            $this->assertExcludes($store, new MysqlStore($server->dsn()));
        }
    }

    public function testSemaphoresOfAProject(): void
    {
        $project = 'latch test ' . bin2hex(random_bytes(8));
        $store = StoreFactory::createStore('semaphore://' . rawurlencode("$project/ä"));

        self::assertSame(Subject::name('Store\SemaphoreStore'), $store::class);
        $this->assertExcludes($store, new SemaphoreStore("$project/ä"));
        $this->assertExcludes(StoreFactory::createStore('semaphore://'), new SemaphoreStore());
    }

    public function testFlockThatRemovesItsFiles(): void
    {
        $directory = $this->directory();
        $store = StoreFactory::createStore("flock+remove://$directory");
        $this->assertExcludes($store, StoreFactory::createStore("flock://$directory"));

        $lock = new Lock(new Key('another'), $store);
        $lock->acquire();
        self::assertFileExists($this->lockFile('another'));
        $lock->release();
        self::assertFileDoesNotExist($this->lockFile('another'));
    }

    private function assertExcludes(PersistingStoreInterface $one, PersistingStoreInterface $other): void
    {
        $resource = 'latch test ' . bin2hex(random_bytes(8));
        $lock = new Lock(new Key($resource), $one);

        self::assertTrue($lock->acquire());
        self::assertFalse((new Lock(new Key($resource), $other))->acquire());
        $lock->release();
        self::assertTrue((new Lock(new Key($resource), $other))->acquire());
    }
}
