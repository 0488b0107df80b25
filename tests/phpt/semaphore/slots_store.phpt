--TEST--
LockStore: what it is made of, keepAlive() and onLost(), locks written in PHP, Symfony's name
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_slots.inc';

use Latch\LockFactory;
use Latch\Semaphore\{Key, Semaphore, SemaphoreFactory};
use Latch\Semaphore\Store\{LockStore, StoreFactory};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, NullStore, RedisStore};
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\RedisServer;

const INVALID = 'Latch\Semaphore\Exception\InvalidArgumentException: ';

/* The child, in drop-in mode. */
if (isset($argv[1])) {
    $factory = new Symfony\Component\Lock\LockFactory(new Symfony\Component\Lock\Store\FlockStore($argv[1]));
    foreach ([new Symfony\Component\Semaphore\Store\LockStore($factory), Symfony\Component\Semaphore\Store\StoreFactory::createStore($factory)] as $store) {
        $semaphore = (new Symfony\Component\Semaphore\SemaphoreFactory($store))->createSemaphore('s', 3, 2);
        echo get_class($store), ' ', var_export($store instanceof LockStore, true), ' ', var_export($semaphore->acquire(), true), ' ', slots_locked($argv[1], 3), "\n";
        unset($semaphore);
    }
    $quorum = new Symfony\Component\Lock\LockFactory(new CombinedStore([new FlockStore($argv[1]), new InMemoryStore()], new UnanimousStrategy()));
    $key = new Key('s', 2, 2);
    $store = new LockStore($quorum);
    $store->save($key, 10);
    echo slots_locked($argv[1], 3), ' ', implode(' ', array_map(get_class(...), $key->getState(Symfony\Component\Semaphore\Store\LockStore::class))), "\n";
    $store->delete($key);
    echo slots_locked($argv[1], 3), ' ', var_export($key->hasState(Symfony\Component\Semaphore\Store\LockStore::class), true), "\n";
    exit;
}

/* By DSNs and objects. */
$directory = temporary_directory();
$postgresql = Ground::postgresql();
$mysql = Ground::mysql();
foreach ([
    'a directory' => "flock://$directory",
    'a directory, removing' => "flock+remove://$directory",
    'PostgreSQL' => $postgresql->server->dsn(),
    'PostgreSQL, as a URL' => $postgresql->server->url(),
    'MySQL' => $mysql->server->dsn(),
    'a factory' => new LockFactory(new FlockStore($directory)),
] as $name => $connection) {
    $store = StoreFactory::createStore($connection);
    check_same(LockStore::class, get_class($store), $name);
    $semaphores = array_map(fn () => (new SemaphoreFactory($store))->createSemaphore('s', 2), range(0, 2));
    check_same([true, true, false], array_map(fn (Semaphore $semaphore) => $semaphore->acquire(), $semaphores), "$name works");
    unset($semaphores);
    if ($name === 'a directory, removing') {
        check_same([], glob("$directory/*"), "$name: files that are left");
    }
}
check_same([LockStore::class, LockStore::class], [get_class(StoreFactory::createStore('flock')), get_class(StoreFactory::createStore('flock+remove'))], 'without a directory');
check_same([0, 0], [$postgresql->server->held(), $mysql->server->held()], 'locks that are left in the servers');

/* What it refuses. */
foreach ([
    fn () => slots_in(new CombinedStore([new NullStore()], new UnanimousStrategy())),
    fn () => StoreFactory::createStore(new LockFactory(new CombinedStore([new LocksInPhp($directory)], new UnanimousStrategy()))),
] as $call) {
    check_same(INVALID . 'Semaphores are not on a CombinedStore: give LockStore a factory of a single store, such as one of its members, the same in all '
        . 'processes.', outcome($call), 'a CombinedStore');
}
check(str_starts_with(outcome(fn () => new LockStore(new FlockStore($directory))), 'TypeError: Latch\Semaphore\Store\LockStore::__construct(): Argument #1 ($lockFactory) must be of type Latch\LockFactory'), 'a store');
check(str_starts_with($outcome = outcome(fn () => new SemaphoreFactory(new FlockStore($directory))), 'TypeError: ') && str_contains($outcome, 'LockStore'), $outcome);
$made = slots_in(new FlockStore($directory));
check_same('Error: Latch\Semaphore\Store\LockStore is constructed already', outcome(fn () => $made->__construct(new LockFactory(new NullStore()))), 'twice');
foreach (['flock:///dev/null/x', 'flock://user:SECRET@host', 'pgsql+advisory:host=h;no_such=SECRET', 'mysql+advisory://h?no_such=SECRET'] as $dsn) {
    $outcome = outcome(fn () => StoreFactory::createStore($dsn));
    check(str_starts_with($outcome, INVALID) && !str_contains($outcome, 'SECRET'), $outcome);
}
$nowhere = StoreFactory::createStore('postgresql+advisory://u:SECRET@127.0.0.1:1/x');
foreach ([fn () => (new Semaphore(new Key('s', 2), $nowhere))->acquire(), fn () => (new Semaphore(new Key('s', 2), $nowhere))->acquire(true, 0.1), fn () => (new Semaphore(new Key('s', 2), $nowhere))->available()] as $call) {
    $outcome = outcome($call);
    check(preg_match('/^Latch.Semaphore.Exception.\w+: Failed to \w+ the "s" semaphore: .*127\.0\.0\.1:1/', $outcome) === 1 && !str_contains($outcome, 'SECRET'), $outcome);
}
check_same('Latch\Semaphore\Exception\InvalidArgumentException', strstr(outcome(fn () => $made->save(new Key('s', 1), -1)), ':', true), 'a TTL');

/* Where locks do not expire permits do not, and need not be kept alive; a loss is told all the same. */
$told = [];
$semaphore = new Semaphore(new Key('s', 3, 2), slots_in(new FlockStore($directory)), 0.2);
$semaphore->keepAlive()->onLost(function (Semaphore $semaphore, string $reason) use (&$told) {
    $told[] = $reason;
});
check($semaphore->acquire(), 'acquired');
usleep(400000);
check($semaphore->isHeld() && !$semaphore->isExpired() && $semaphore->getRemainingLifetime() === null && slots_locked($directory, 3) === 2, 'held beyond its time');
array_map(unlink(...), glob("$directory/*.lock"));
wait_until(function () use (&$told) {
    return $told !== [];
}, 'a loss is told');
check(!$semaphore->isHeld() && !$semaphore->isAcquired(), 'not held any more');
check($semaphore->acquire() && $semaphore->isHeld() && slots_locked($directory, 3) === 2, 'acquired anew');
unset($semaphore);
check_same(0, slots_locked($directory, 3), 'given back');

$redis = new RedisServer();
$semaphore = new Semaphore(new Key('s', 3, 2), slots_in(new RedisStore($redis->dsn())), 2.0);
check(preg_match('/^' . preg_quote(INVALID, '/') . 'The "s" semaphore cannot be kept alive in a Latch.Semaphore.Store.LockStore: .*expire.*; call refresh\(\) in time\.$/',
    $outcome = outcome(fn () => $semaphore->keepAlive())) === 1, $outcome);
check($semaphore->acquire() && $semaphore->getRemainingLifetime() <= 2, 'in Redis permits expire');
$semaphore->refresh(50);
check($semaphore->isHeld() && $semaphore->getRemainingLifetime() > 40, 'and are refreshed');
$redis->command('DEL', ...$redis->command('KEYS', 's_*'));
check(!$semaphore->isAcquired() && !$semaphore->isHeld(), 'lost');
check(str_starts_with(outcome(fn () => $semaphore->refresh()), 'Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "s" has expired: '), 'refresh() of a lost one');
check($semaphore->acquire(), 'acquired anew in Redis');
usleep(2200000);
check(!$semaphore->isHeld() && (new Semaphore(new Key('s', 3, 3), slots_in(new RedisStore($redis->dsn()))))->acquire(), 'expired');

/* A session that ends. */
$store = slots_in($postgresql->store());
$semaphore = new Semaphore(new Key('s', 3, 2), $store);
check($semaphore->acquire() && $semaphore->isHeld() && $postgresql->server->held() === 2, 'in a session');
$postgresql->server->endSessions();
check(!$semaphore->isAcquired() && !$semaphore->isHeld(), 'ended with it');
check($semaphore->acquire() && $postgresql->server->held() === 2, 'acquired in another one');
unset($semaphore);
$postgresql->server->awaitHeld(0);

/* Locks written in PHP: Symfony's calls, and what becomes of failures. */
$locks = new LocksInPhp(temporary_directory());
$store = slots_in($locks);
$key = new Key('s', 4, 2);
$store->save($key, 10);
check_same([2, true], [$locks->held(), $key->hasState(LockStore::class)], 'two locks');
check_same(['Latch\Lock', 'Latch\Lock'], array_map(get_class(...), $key->getState(LockStore::class)), 'in the state');
$store->save($key, 10);
check_same(2, $locks->held(), 'two still');
$key->getState(LockStore::class)[0]->release();
check(!$store->exists($key) && count($key->getState(LockStore::class)) === 1, 'one was released');
check_same('Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "s" has expired: One or multiple locks were not even acquired..', outcome(fn () => $store->putOffExpiration($key, 10)), 'too few');
check_same([0, false], [$locks->held(), $key->hasState(LockStore::class)], 'all are released then');
$fail = function (string $call, int $times, callable $throw) use ($locks) {
    $locks->before = function (string $called) use ($call, &$times, $throw) {
        if ($called === $call && --$times === 0) {
            $throw();
        }
    };
};
$fail('save', 2, fn () => throw new RuntimeException('no'));
check(preg_match('/^Latch.Exception.LockAcquiringException: Failed to acquire/', $outcome = outcome(fn () => $store->save($key, 10))) === 1, $outcome);
check_same([0, false], [$locks->held(), $key->hasState(LockStore::class)], 'a failure leaves nothing');
$store->save($key, 10);
$fail('putOffExpiration', 1, fn () => throw new RuntimeException('no'));
check(preg_match('/^Latch.Semaphore.Exception.SemaphoreExpiredException: The semaphore "s" has expired: Failed to refresh one or multiple locks: /', $outcome = outcome(fn () => $store->putOffExpiration($key, 10))) === 1, $outcome);
check_same([0, false], [$locks->held(), $key->hasState(LockStore::class)], 'nor does a failed refresh');
$store->save($key, 10);
$locks->calls = [];
$fail('delete', 1, fn () => throw new Latch\Exception\LockReleasingException('forced'));
check(preg_match('/^Latch.Semaphore.Exception.SemaphoreReleasingException: The semaphore "s" could not be released: /', $outcome = outcome(fn () => $store->delete($key))) === 1, $outcome);
check_same(2, count(preg_grep('/^delete/', $locks->calls)), 'the other one is released');
$locks->before = null;
array_map(unlink(...), glob("$locks->directory/lock-*"));
$fail('save', 2, fn () => exit("exit() ends the acquire\n"));
register_shutdown_function(function () use ($locks, $directory) {
    check_same(0, $locks->held(), 'after exit()');
    /* Under Symfony's names. */
    $process = proc_open(php_command('-d', 'latch.symfony=1', '-d', 'latch.symfony_semaphore=1', __FILE__, $directory), [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]);
    proc_close($process);
    /* With those of semaphores alone Composer's LockStore has its name. */
    $process = proc_open(php_command('-d', 'latch.symfony_semaphore=1', '-r', 'var_dump(class_exists("Symfony\Component\Semaphore\Store\LockStore"), '
        . '(new ReflectionClass("Latch\Semaphore\Store\LockStore"))->getName());'), [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    echo stream_get_contents($pipes[1]), stream_get_contents($pipes[2]);
    proc_close($process);
    echo "done\n";
});
(new Semaphore($key, $store))->acquire();
--EXPECT--
exit() ends the acquire
Symfony\Component\Semaphore\Store\LockStore true true 2
Symfony\Component\Semaphore\Store\LockStore true true 2
2 Symfony\Component\Lock\Lock Symfony\Component\Lock\Lock
0 false
bool(false)
string(31) "Latch\Semaphore\Store\LockStore"
done
