--TEST--
StoreFactory under Symfony's names: what Latch has no store for is Composer's, made as Symfony's factory makes it
--INI--
latch.symfony=1
zend.exception_ignore_args=0
--FILE--
<?php
/*
 * The classes that an autoloader is asked for are made here, to show how they are called. Symfony's own
 * are tried in tests/phpunit/SymfonyNames.
 */
namespace AsyncAws\DynamoDb {
    class DynamoDbClient
    {
    }
}

namespace MongoDB {
    class Collection
    {
    }
}

namespace Predis {
    interface ClientInterface
    {
        public function getConnection();
    }
}

namespace Relay {
    class Relay
    {
    }
}

namespace {
    class RelayOfOurs extends Relay\Relay
    {
    }

    class Zookeeper
    {
    }

    class Told implements Symfony\Component\Lock\PersistingStoreInterface
    {
        public static bool $fails = false;
        public static string $last = 'what was given';
        private string $told;

        public function __construct(#[SensitiveParameter] mixed ...$arguments)
        {
            if (self::$fails) {
                throw new RuntimeException(static::class . ' fails');
            }
            $this->told = implode(', ', array_map(
                fn ($argument) => $argument instanceof self ? $argument->told : get_debug_type($argument),
                $arguments
            ));
        }

        public static function createConnection(#[SensitiveParameter] string $dsn, array ...$options): self
        {
            $client = preg_match('/^(redis|valkey)/', $dsn) ? new ToldClient() : new self();
            $client->told = 'client of ' . substr(strrchr(static::class, '\\'), 1) . '(' . implode(', ', ['string', ...array_map('json_encode', $options)]) . ')';
            if ($client instanceof ToldClient) {
                self::$last = $client->told;
            }
            return $client;
        }

        public function told(): string
        {
            return 'told ' . substr(strrchr(static::class, '\\'), 1) . "($this->told)";
        }

        public function save(Symfony\Component\Lock\Key $key): void
        {
        }

        public function delete(Symfony\Component\Lock\Key $key): void
        {
        }

        public function exists(Symfony\Component\Lock\Key $key): bool
        {
            return false;
        }

        public function putOffExpiration(Symfony\Component\Lock\Key $key, float $ttl): void
        {
        }
    }

    /** What symfony/cache makes of a DSN. */
    class ToldClient extends Told implements Predis\ClientInterface
    {
        public function getConnection()
        {
            return null;
        }
    }
}

namespace {
    require __DIR__ . '/../../utils/phpt.inc';

    use Symfony\Component\Lock\Store\{FlockStore, RedisStore, StoreFactory};

    const STORES = 'Symfony\Component\Lock\Store\\';
    const CACHE = 'Symfony\Component\Cache\Adapter\AbstractAdapter';
    const DYNAMODB = 'Symfony\Component\Lock\Bridge\DynamoDb\Store\DynamoDbStore';

    /** What the autoloader finds: the parents of classes, by their names. */
    $known = [];
    /** @var list<string> what it was asked for */
    $asked = [];
    spl_autoload_register(function (string $name) use (&$known, &$asked) {
        $asked[] = $name;
        if (isset($known[$name])) {
            $at = strrpos($name, '\\');
            eval('namespace ' . substr($name, 0, $at) . '; class ' . substr($name, $at + 1) . " extends \\$known[$name] { }");
        }
    });

    function created(string|object $connection): string
    {
        return outcome(function () use ($connection) {
            $store = StoreFactory::createStore($connection);
            return $store instanceof RedisStore ? 'ours, by ' . Told::$last : $store->told();
        });
    }

    /* Ours ask for nothing. */
    foreach (['flock', 'semaphore', 'in-memory', 'null', 'redis://localhost', 'redis://a?host[b]&redis_cluster=1', 'pgsql+advisory://localhost', 'mysql+advisory:host=x',
        'sqlite::memory:', 'mysql:host=x', 'mysql://x', 'oci:x', 'pgsql:host=x', 'postgresql://x', 'sqlsrv:x'] as $dsn) {
        StoreFactory::createStore($dsn);
    }
    check_same([], $asked, 'what is asked for');
    check_same(FlockStore::class, StoreFactory::createStore('flock')::class, 'a store of ours');

    /* Nobody has it: Symfony's messages. */
    $client = new stdClass();
    foreach ([
        'mssql://localhost' => ['Failed to parse the DSN. Try running "composer require doctrine/dbal".', 'Doctrine\DBAL\DriverManager'],
        'zookeeper://localhost' => ['No lock store supports the given DSN.', STORES . 'ZookeeperStore'],
        'memcached://localhost' => ['Unsupported Redis or Memcached DSN. Try running "composer require symfony/cache".', CACHE],
        'rediss:///run/redis.sock' => ['Unsupported Redis or Memcached DSN. Try running "composer require symfony/cache".', CACHE],
        'redis://localhost/1?redis_cluster=1' => ['Unsupported Redis or Memcached DSN. Try running "composer require symfony/cache".', CACHE],
        'nonsense' => ['No lock store supports the given DSN.', null],
    ] as $dsn => [$message, $class]) {
        $asked = [];
        check_same("Symfony\Component\Lock\Exception\InvalidArgumentException: $message", outcome(fn () => StoreFactory::createStore($dsn)), $dsn);
        check_same(array_filter([$class]), $asked, "what is asked for, for $dsn");
    }
    foreach (['dynamodb://localhost', new AsyncAws\DynamoDb\DynamoDbClient()] as $connection) {
        check_same('LogicException: Class "' . DYNAMODB . '" is missing. Try running '
            . '"composer require symfony/amazon-dynamo-db-lock" to install the lock store package.', created($connection), 'DynamoDB');
    }
    check_same('Symfony\Component\Lock\Exception\InvalidArgumentException: Unsupported Connection: "Zookeeper".', created(new Zookeeper()), 'no class');
    check_same('Symfony\Component\Lock\Exception\InvalidArgumentException: Unsupported Connection: "stdClass".', created($client), 'no client');
    foreach (['dbindx' => 'the option "dbindx" is unknown', 'prefix' => 'know no option "prefix"'] as $option => $why) {
        try {
            StoreFactory::createStore("redis://localhost?$option=1");
            echo "BROKEN: $option\n";
        } catch (Exception $e) {
            check(str_contains($e->getPrevious()->getMessage(), $why), "why Latch could not: {$e->getPrevious()->getMessage()}");
        }
    }

    /* What is wrong is not handed on. */
    $asked = [];
    echo outcome(fn () => StoreFactory::createStore('redis://localhost?timeout=soon')), "\n";
    check_same([], $asked, 'what is asked for');

    /* By an autoloader that throws. */
    $thrower = function (string $name) {
        throw new RuntimeException("no $name today");
    };
    spl_autoload_register($thrower, true, true);
    foreach (['mssql://localhost', 'memcached://localhost', 'redis:?host[a]&host[b]', 'zookeeper://localhost', 'dynamodb://x', new Zookeeper()] as $connection) {
        echo created($connection), "\n";
    }
    spl_autoload_unregister($thrower);

    /* Found. */
    foreach (['MemcachedStore', 'ZookeeperStore'] as $class) {
        $known[STORES . $class] = Told::class;
    }
    $known[CACHE] = $known[DYNAMODB] = Told::class;
    $known[STORES . 'MongoDbStore'] = SplObjectStorage::class; // which is no store
    foreach ([
        'dynamodb://x',
        'memcached://x', 'memcached:?host[x]', 'zookeeper://x', 'rediss:/x', 'valkeys:?host[/x:]', 'redis:?host[a]&host[b]',
        'valkey://x?cluster=1', 'valkey://x/1?cluster=1', 'redis://x?unknown=1', 'redis://x?prefix=y',
        new AsyncAws\DynamoDb\DynamoDbClient(), new Zookeeper(), new Relay\Relay(), new RelayOfOurs(), new MongoDB\Collection(),
    ] as $connection) {
        Told::$last = 'what was given';
        echo is_string($connection) ? $connection : $connection::class, ': ', created($connection), "\n";
    }

    /* Constructors that throw, and a class that is no store. */
    Told::$fails = true;
    try {
        StoreFactory::createStore('dynamodb://x?password=SECRET');
    } catch (RuntimeException $e) {
        echo $e->getMessage(), "\n";
        check(!str_contains(print_r(array_column($e->getTrace(), 'args', 'function')['createStore'], true), 'SECRET'), 'no password: ' . $e);
    }
    echo created('memcached://x'), "\n";
    Told::$fails = false;
    $other = new class () extends StoreFactory { };
    check_same('told DynamoDbStore(string)', $other::createStore('dynamodb://x')->told(), 'by a subclass');
    echo "done\n";
}
--EXPECT--
Symfony\Component\Lock\Exception\InvalidArgumentException: Symfony\Component\Lock\Store\StoreFactory::createStore(): Argument #1 ($connection) is not usable: invalid Redis DSN: the option "timeout" is a number of seconds from 0.001 to 86400, such as "2.5"
RuntimeException: no Doctrine\DBAL\DriverManager today
RuntimeException: no Symfony\Component\Cache\Adapter\AbstractAdapter today
RuntimeException: no Symfony\Component\Cache\Adapter\AbstractAdapter today
RuntimeException: no Symfony\Component\Lock\Store\ZookeeperStore today
RuntimeException: no Symfony\Component\Lock\Bridge\DynamoDb\Store\DynamoDbStore today
RuntimeException: no Symfony\Component\Lock\Store\ZookeeperStore today
dynamodb://x: 'told DynamoDbStore(string)'
memcached://x: 'told MemcachedStore(client of AbstractAdapter(string, {"lazy":true}))'
memcached:?host[x]: 'told MemcachedStore(client of AbstractAdapter(string, {"lazy":true}))'
zookeeper://x: 'told ZookeeperStore(client of ZookeeperStore(string))'
rediss:/x: 'ours, by client of AbstractAdapter(string, {"lazy":true})'
valkeys:?host[/x:]: 'ours, by client of AbstractAdapter(string, {"lazy":true})'
redis:?host[a]&host[b]: 'ours, by client of AbstractAdapter(string, {"lazy":true})'
valkey://x?cluster=1: 'ours, by what was given'
valkey://x/1?cluster=1: 'ours, by client of AbstractAdapter(string, {"lazy":true})'
redis://x?unknown=1: 'ours, by client of AbstractAdapter(string, {"lazy":true})'
redis://x?prefix=y: 'ours, by client of AbstractAdapter(string, {"lazy":true})'
AsyncAws\DynamoDb\DynamoDbClient: 'told DynamoDbStore(AsyncAws\\DynamoDb\\DynamoDbClient)'
Zookeeper: 'told ZookeeperStore(Zookeeper)'
Relay\Relay: 'ours, by what was given'
RelayOfOurs: 'ours, by what was given'
MongoDB\Collection: TypeError: Symfony\Component\Lock\Store\StoreFactory::createStore(): Return value must be of type Symfony\Component\Lock\PersistingStoreInterface, Symfony\Component\Lock\Store\MongoDbStore returned
Symfony\Component\Lock\Bridge\DynamoDb\Store\DynamoDbStore fails
RuntimeException: Told fails
done
