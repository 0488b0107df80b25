--TEST--
Stores of semaphores: what StoreFactory makes, and what it refuses, under both names
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';
require __DIR__ . '/../../utils/php_client.inc';

use Latch\Semaphore\{Key, Semaphore, SemaphoreFactory};
use Latch\Semaphore\Store\{InMemoryStore, RedisStore, StoreFactory};
use Latch\Tests\RedisServer;

/* The child, in drop-in mode. */
if (isset($argv[1])) {
    foreach (['null', 'hunter2', 'mysql://u:secret@h/x', 'redis://h?prefix=x', new stdClass()] as $connection) {
        try {
            Symfony\Component\Semaphore\Store\StoreFactory::createStore($connection);
        } catch (Symfony\Component\Semaphore\Exception\InvalidArgumentException $e) {
            echo $e->getMessage(), "\n";
        }
    }
    $store = Symfony\Component\Semaphore\Store\StoreFactory::createStore($argv[1]);
    $factory = new Symfony\Component\Semaphore\SemaphoreFactory($store);
    $semaphore = $factory->createSemaphore('', 1);
    echo get_class($store), ' ', get_class($semaphore), ' ', var_export($semaphore->acquire(), true), "\n";
    try {
        new Symfony\Component\Semaphore\Key('x', 0);
    } catch (Symfony\Component\Semaphore\Exception\ExceptionInterface $e) {
        echo get_class($e), "\n";
    }
    echo serialize(new Symfony\Component\Semaphore\Key('x', 1)), "\n";
    exit;
}

$server = new RedisServer();
check_same(InMemoryStore::class, get_class(StoreFactory::createStore('in-memory')), 'in-memory');
foreach (['redis', 'valkey'] as $scheme) {
    $store = StoreFactory::createStore(preg_replace('/^redis/', $scheme, $server->dsn()));
    check_same(RedisStore::class, get_class($store), $scheme);
    $semaphore = (new SemaphoreFactory($store))->createSemaphore($scheme, 1);
    check($semaphore->acquire() && permits_held($server, $scheme) === 1, "$scheme works");
}
check_same(1, count($server->clients()), 'connections of ours');
$locks = new Latch\Lock(new Latch\Key('s'), new Latch\Store\RedisStore($server->dsn()));
check($locks->acquire() && count($server->clients()) === 1, 'locks have the same one');

const INVALID = 'Latch\Semaphore\Exception\InvalidArgumentException: ';
const HINT = ' Semaphores are in stores of redis:, rediss:, valkey: and valkeys: DSNs, of their client objects, in "semaphore", '
    . '"semaphore://PROJECT" and "in-memory"; as slots, by locks, in those of flock, pgsql+advisory:, postgresql+advisory:// and mysql+advisory: DSNs, and of a LockFactory.';
foreach ([
    ['flok', 'flok'],
    ['semaphores', 'semaphores'],
    ['null', 'null'],
    ['mysql://user:secret@host/x', 'mysql://…'],
    ['amqp://user:secret@host/x', 'amqp://…'],
    ['secret', '…'], // no scheme: perhaps a password in the wrong variable
    ['Tr0ub4dor', '…'],
    ['secret:word', '…'],
    ['secret with blanks', '…'],
    ['', ''],
    [new stdClass(), 'stdClass'],
    [new Latch\Store\FlockStore(), 'Latch\Store\FlockStore'],
    [new Latch\Store\RedisStore($server->dsn()), 'Latch\Store\RedisStore'],
    [new Latch\Store\CombinedStore([new Latch\Store\NullStore()], new Latch\Strategy\UnanimousStrategy()), 'Latch\Store\CombinedStore'],
] as [$connection, $told]) {
    check_same(INVALID . "Unsupported Connection: \"$told\"." . HINT, outcome(fn () => StoreFactory::createStore($connection)), $told);
}
foreach ([fn () => StoreFactory::createStore(null), fn () => StoreFactory::createStore([]), fn () => new RedisStore(null), fn () => new RedisStore(new stdClass())] as $call) {
    check(str_starts_with(outcome($call), 'TypeError: Latch\Semaphore\Store\\'), outcome($call));
}
foreach ([fn () => StoreFactory::createStore('redis://h?unknown=1'), fn () => new RedisStore('redis://h?unknown=1')] as $call) {
    check(preg_match('/^Latch.Semaphore.Exception.InvalidArgumentException: Latch.Semaphore.Store.\w+::\w+\(\): Argument #1 \(\$\w+\) is not usable: /', outcome($call)) === 1, outcome($call));
}
$store = new RedisStore($server->dsn());
check_same('Error: Latch\Semaphore\Store\RedisStore is constructed already', outcome(fn () => $store->__construct($server->dsn())), 'twice');
$nowhere = new RedisStore('redis://127.0.0.1:1');
check(preg_match('/^Latch.Semaphore.Exception.RuntimeException: Failed to acquire the "s" semaphore: .*127\.0\.0\.1:1/',
    $outcome = outcome(fn () => (new Semaphore(new Key('s', 1), $nowhere))->acquire())) === 1, $outcome);
check(preg_match('/^Latch.Semaphore.Exception.SemaphoreStorageException: Failed to store the "s" semaphore: /',
    $outcome = outcome(fn () => $nowhere->save(new Key('s', 1), 1.0))) === 1, $outcome);
$server->command('SET', '{odd}:weight', 'text');
check(preg_match('/^Latch.Semaphore.Exception.RuntimeException: Failed to acquire the "odd" semaphore: .+/',
    $outcome = outcome(fn () => (new Semaphore(new Key('odd', 1), $store))->acquire())) === 1, $outcome);
check_same('text', $server->command('GET', '{odd}:weight'), 'a key of another type stays');

/* A subclass whose methods are PHP's, around ours. */
$wrapper = new class ($server->dsn()) extends RedisStore {
    public array $calls = [];

    public function save(Key $key, float $ttlInSecond): void
    {
        $this->calls[] = "save($ttlInSecond)";
        parent::save($key, $ttlInSecond);
    }
};
$semaphore = new Semaphore(new Key('s', 1), $wrapper, 50.0);
check($semaphore->acquire() && $semaphore->isHeld() && !redis_semaphore($server, 1)->acquire(), 'a subclass');
check(!(new Semaphore(new Key('s', 1), $wrapper))->acquire(true, 0.2), 'a wait by it');
unset($semaphore);
check($wrapper->calls[0] === 'save(50)' && count($wrapper->calls) >= 3 && permits_held($server) === 0, 'its calls');

/* A subclass of the factory. */
$factory = new class ($store) extends SemaphoreFactory {
    public array $made = [];

    public function createSemaphoreFromKey(Key $key, ?float $ttlInSecond = 300.0, bool $autoRelease = true): Latch\Semaphore\SemaphoreInterface
    {
        $this->made[] = [(string) $key, $key->getLimit(), $key->getWeight(), $ttlInSecond, $autoRelease];
        return parent::createSemaphoreFromKey($key, $ttlInSecond, $autoRelease);
    }
};
$factory->createSemaphore('a', 4, 2, 5.5, false);
$factory->createSemaphore('b', 4, ttlInSecond: null);
check_same([['a', 4, 2, 5.5, false], ['b', 4, 1, 300.0, true]], $factory->made, 'what a subclass makes');

/* Under Symfony's names. */
$process = proc_open(php_command('-d', 'latch.symfony_semaphore=1', __FILE__, $server->dsn()), [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]);
proc_close($process);
check_same(0, permits_held($server, ''), 'permits that are left');
echo "done\n";
--EXPECT--
Unsupported Connection: "null".
Unsupported Connection: "…".
Unsupported Connection: "mysql://…".
Unsupported Redis DSN. Try running "composer require symfony/cache".
Unsupported Connection: "stdClass".
Symfony\Component\Semaphore\Store\RedisStore Symfony\Component\Semaphore\Semaphore true
Symfony\Component\Semaphore\Exception\InvalidArgumentException
O:31:"Symfony\Component\Semaphore\Key":5:{s:8:"resource";s:1:"x";s:5:"limit";i:1;s:6:"weight";i:1;s:12:"expiringTime";N;s:5:"state";a:0:{}}
done
