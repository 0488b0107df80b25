<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyNames;

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Tools\DsnParser;
use Latch\Tests\MemcachedServer;
use Latch\Tests\RedisServer;
use Latch\Tests\Support\Connections;
use Latch\Tests\Support\PostgreSql;
use Latch\Tests\Support\Redis\Client;
use Latch\Tests\Support\Redis\Servers;
use Latch\Tests\Support\TestCase;
use Latch\Tests\Support\Wait;
use PHPUnit\Framework\Attributes\TestWith;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Store\DoctrineDbalStore;
use Symfony\Component\Lock\Store\MemcachedStore;
use Symfony\Component\Lock\Store\PdoStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Store\StoreFactory;

/**
 * What Latch has no store for Composer's classes do, on its interfaces; and what its own connections cannot
 * reach, the clients that Composer's packages make.
 */
final class StoreFactoryTest extends TestCase
{
    public function testWhatComposersClassesServeIsAsWithoutLatch(): void
    {
        $pure = $this->inPurePhp('echo json_encode(\Latch\Tests\Support\Connections::outcomes());');

        self::assertSame(json_decode($pure, true, 4, \JSON_THROW_ON_ERROR), Connections::outcomes());
    }

    public function testClientsOfRedis(): void
    {
        $server = Servers::fresh();
        $clients = [
            Client::connect($server->port),
            new \RedisArray(["127.0.0.1:$server->port"]),
            new \Predis\Client("tcp://127.0.0.1:$server->port"),
        ];
        foreach ($clients as $client) {
            $this->assertLocks(
                RedisStore::class,
                StoreFactory::createStore($client),
                StoreFactory::createStore($server->dsn()),
            );
        }
    }

    public function testAClusterOfRedis(): void
    {
        $server = new RedisServer(['cluster-enabled' => 'yes', 'cluster-announce-ip' => '127.0.0.1']);
        $server->command('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
        Wait::until(
            static fn (): bool => str_contains((string) $server->command('CLUSTER', 'INFO'), 'cluster_state:ok'),
            'the cluster is up',
        );
        $dsn = "redis://127.0.0.1:$server->port?redis_cluster=1";

        $this->assertLocks(RedisStore::class, StoreFactory::createStore($dsn), StoreFactory::createStore($dsn));
        $client = new \RedisCluster(null, ["127.0.0.1:$server->port"]);
        $this->assertLocks(RedisStore::class, StoreFactory::createStore($client), StoreFactory::createStore($dsn));
        $byCache = str_replace('?', '/1?', $dsn); // a database, which symfony/cache's client ignores
        $this->assertLocks(RedisStore::class, StoreFactory::createStore($byCache), StoreFactory::createStore($dsn));
    }

    public function testMemcached(): void
    {
        $server = new MemcachedServer();
        $client = new \Memcached();
        $client->addServer('127.0.0.1', $server->port);
        $dsn = "memcached://127.0.0.1:$server->port";

        $this->assertLocks(MemcachedStore::class, StoreFactory::createStore($client), StoreFactory::createStore($dsn));
        $this->assertLocks(MemcachedStore::class, StoreFactory::createStore($dsn), StoreFactory::createStore($client));
    }

    public function testTablesByPdo(): void
    {
        $port = PostgreSql::server()->port;
        $dsn = PostgreSql::dsn($port, 'pgsql');
        $file = 'sqlite:' . $this->directory() . '/locks';

        $this->assertLocks(
            PdoStore::class,
            StoreFactory::createStore(PostgreSql::pdo($port)),
            StoreFactory::createStore($dsn),
        );
        $this->assertLocks(
            PdoStore::class,
            StoreFactory::createStore($file),
            StoreFactory::createStore(new \PDO($file)),
        );
    }

    public function testTablesByDoctrine(): void
    {
        $port = PostgreSql::server()->port;
        $connection = DriverManager::getConnection(
            (new DsnParser())->parse(PostgreSql::url($port, 'pdo-pgsql')),
        );

        $this->assertLocks(
            DoctrineDbalStore::class,
            StoreFactory::createStore($connection),
            StoreFactory::createStore(PostgreSql::url($port, 'postgresql')),
        );
    }

    #[TestWith(['LATCH_SYMFONY_6'])]
    #[TestWith(['LATCH_SYMFONY_8'])]
    public function testOtherReleasesOfSymfony(string $variable): void
    {
        $vendor = getenv($variable);
        self::assertNotFalse($vendor, "$variable must name a vendor folder with symfony/lock.");

        // No symfony/cache and no doctrine/dbal are there.
        self::assertSame([
            'sqlite::memory:' => 'Symfony\Component\Lock\Store\PdoStore',
            'in-memory' => 'Symfony\Component\Lock\Store\InMemoryStore',
            'null' => 'Symfony\Component\Lock\Store\NullStore',
            'semaphore://shop' => 'Symfony\Component\Lock\Store\SemaphoreStore',
            'flock+remove' => 'Symfony\Component\Lock\Store\FlockStore',
            'mysql+advisory://localhost' => 'Symfony\Component\Lock\Store\DoctrineDbalMysqlStore',
            'redis://localhost' => 'Symfony\Component\Lock\Store\RedisStore',
            'rediss://localhost' => 'Symfony\Component\Lock\Store\RedisStore',
            'redis://localhost?ssl[cafile]=x' => 'Unsupported Redis or Memcached DSN. Try running "composer require symfony/cache".',
            'memcached://h' => 'Unsupported Redis or Memcached DSN. Try running "composer require symfony/cache".',
            'dynamodb://h' => 'Class "Symfony\Component\Lock\Bridge\DynamoDb\Store\DynamoDbStore" is missing. '
                . 'Try running "composer require symfony/amazon-dynamo-db-lock" to install the lock store package.',
            'nonsense' => 'No lock store supports the given DSN.',
            'PDO' => 'locked',
        ], json_decode($this->withTheExtension(<<<'END'
            use Symfony\Component\Lock\{Key, Lock, Store\StoreFactory};
            error_reporting(E_ALL & ~E_DEPRECATED); // of 6.4's stores, which declare no return types
            $said = [];
            foreach (['sqlite::memory:', 'in-memory', 'null', 'semaphore://shop', 'flock+remove', 'mysql+advisory://localhost',
                'redis://localhost', 'rediss://localhost', 'redis://localhost?ssl[cafile]=x', 'memcached://h', 'dynamodb://h', 'nonsense'] as $dsn) {
                try {
                    $said[$dsn] = StoreFactory::createStore($dsn)::class;
                } catch (Exception $e) {
                    $said[$dsn] = $e->getMessage();
                }
            }
            $pdo = new PDO('sqlite::memory:');
            $locks = array_map(fn () => new Lock(new Key('r'), StoreFactory::createStore($pdo), 20.0), [1, 2]);
            $said['PDO'] = $locks[0]->acquire() && !$locks[1]->acquire() ? 'locked' : 'broken';
            $locks[0]->release();
            echo json_encode($said);
            END, $vendor), true, 8, \JSON_THROW_ON_ERROR));
    }

    /**
     * By the autoloader, as Symfony preloads, and by compiling files, of which PHP leaves out those of classes that
     * are there.
     */
    #[TestWith(['class_exists("Symfony\Component\Lock\Store\\\\$name");'])]
    #[TestWith(['opcache_compile_file("$vendor/symfony/lock/Store/$name.php");'])]
    public function testClassesMayBePreloaded(string $preload): void
    {
        $vendor = (string) getenv('LATCH_VENDOR');
        $script = $this->directory() . '/preload.php';
        file_put_contents($script, '<?php $vendor = ' . var_export($vendor, true) . '; require "$vendor/autoload.php";'
            . "foreach (['PdoStore', 'StoreFactory', 'DatabaseTableTrait', 'ExpiringStoreTrait'] as \$name) { $preload }");
        $user = posix_getpwuid(posix_geteuid())['name'] ?? '';
        $options = ['zend_extension=opcache', 'opcache.enable_cli=1', "opcache.preload=$script",
            "opcache.preload_user=$user", 'display_errors=0'];

        self::assertSame('preloaded, internal, locked', $this->withTheExtension(<<<'END'
            use Symfony\Component\Lock\{Key, Lock, Store\PdoStore, Store\StoreFactory};
            echo class_exists(PdoStore::class, false) ? 'preloaded, ' : 'not preloaded, ';
            echo (new ReflectionClass(StoreFactory::class))->isInternal() ? 'internal, ' : 'not internal, ';
            $pdo = new PDO('sqlite::memory:');
            $locks = array_map(fn () => new Lock(new Key('r'), StoreFactory::createStore($pdo), 20.0), [1, 2]);
            echo $locks[0]->acquire() && !$locks[1]->acquire() ? 'locked' : 'not locked';
            END, $vendor, $options));
    }

    /**
     * @param class-string $class of both, or of one if the other is Latch's
     */
    private function assertLocks(string $class, PersistingStoreInterface $one, PersistingStoreInterface $other): void
    {
        self::assertSame($class, $one::class);
        if ($class !== MemcachedStore::class) {
            self::assertSame('latch', (new \ReflectionClass($class))->getExtensionName());
        } else {
            self::assertStringContainsString('/symfony/lock/', (string) (new \ReflectionClass($class))->getFileName());
        }
        $resource = 'latch-test-' . bin2hex(random_bytes(8));
        $lock = new Lock(new Key($resource), $one, 20.0);

        self::assertTrue($lock->acquire());
        self::assertTrue($lock->isAcquired());
        self::assertFalse((new Lock(new Key($resource), $other, 20.0))->acquire());
        $lock->release();
        self::assertTrue((new Lock(new Key($resource), $other, 20.0))->acquire());
    }
}
