--TEST--
A semaphore counts as one, and not as a lock: acquires, conflicts, waits, losses and automatic releases; in every store
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\LockFactory;
use Latch\Semaphore\{Key, PersistingStoreInterface, Semaphore};
use Latch\Semaphore\Store\{InMemoryStore, LockStore, RedisStore};
use Latch\Store\FlockStore;
use Latch\SyncFactory;
use Latch\Tests\RedisServer;

class LosingPermitStore extends RecordingPermitStore
{
    public bool $exists = true;

    public function exists(Key $key): bool
    {
        return $this->exists && parent::exists($key);
    }
}

$server = new RedisServer();
$directory = temporary_directory();
$stores = [
    'Redis' => new RedisStore($server->dsn()),
    'memory' => new InMemoryStore(),
    'slots' => new LockStore(new LockFactory(new FlockStore($directory))),
    'PHP' => new LosingPermitStore($directory),
];
foreach ($stores as $name => $store) {
    $weight = $name === 'PHP' ? 1 : 2;
    $one = new Semaphore(new Key('s', $weight, $weight), $store);
    $two = new Semaphore(new Key('s', $weight, $weight), $store);
    check_same(['semaphore' => ['acquired' => 2]], counted_by_class(fn () => $one->acquire() && $one->acquire()), "$name: acquired");
    check_same(['semaphore' => ['conflicts' => 1]], counted_by_class($two->acquire(...)), "$name: refused");
    $before = [Semaphore::getStatistics()['waitSeconds'], Latch\Lock::getStatistics()['waitSeconds']];
    check_same(['semaphore' => ['conflicts' => 1, 'waits' => 1]], counted_by_class(fn () => $two->acquire(true, 0.2)), "$name: in vain");
    check(Semaphore::getStatistics()['waitSeconds'] - $before[0] > 0.1, "$name: the time of the wait");
    check_same($before[1], Latch\Lock::getStatistics()['waitSeconds'], "$name: which is no lock's");
    check_same([], counted_by_class($one->release(...)), "$name: released");
    check_same(['acquired', 'conflicts', 'waits', 'waitSeconds', 'releasedAtShutdown', 'lost'], array_keys(Semaphore::getStatistics()), 'keys');
}

/* Losses. */
foreach ([
    'isAcquired' => fn (Semaphore $semaphore) => $semaphore->isAcquired(),
    'refresh' => fn (Semaphore $semaphore) => outcome($semaphore->refresh(...)),
    'synchronized' => fn (Semaphore $semaphore) => outcome(fn () => $semaphore->synchronized(function () use ($server) {
        $server->command('DEL', '{s}:weight', '{s}:time');
        return usleep(1200000);
    })),
] as $method => $call) {
    $semaphore = redis_semaphore($server, 1, 1, $method === 'synchronized' ? 1.0 : 300.0);
    $semaphore->acquire();
    if ($method !== 'synchronized') {
        $server->command('DEL', '{s}:weight', '{s}:time');
    }
    $counted = counted_by_class(fn () => $call($semaphore));
    check_same(1, $counted['semaphore']['lost'] ?? 0, "$method() finds it lost");
    check(!isset($counted['lock']), "$method(): no lock");
}
$php = $stores['PHP'];
$semaphore = new Semaphore(new Key('s', 1), $php);
$semaphore->acquire();
$php->exists = false;
check_same(['semaphore' => ['lost' => 1]], counted_by_class($semaphore->isAcquired(...)), 'in a store written in PHP');
$semaphore = redis_semaphore($server, 1, 1, 0.6)->keepAlive();
$semaphore->acquire();
check_same(['semaphore' => ['lost' => 1]], counted_by_class(function () use ($server, $semaphore) {
    $server->command('DEL', '{s}:weight', '{s}:time');
    wait_until(fn () => !$semaphore->isHeld(), 'its renewal finds it lost');
}), 'kept alive');

/* Pauses of a throttle are waits for nobody. */
$throttle = (new SyncFactory(new Latch\Store\InMemoryStore()))->createThrottle('t', 10, 1.0);
$before = [Latch\Lock::getStatistics(), Semaphore::getStatistics()];
check($throttle->acquire(true) && $throttle->acquire(true), 'throttled');
check_same($before, [Latch\Lock::getStatistics(), Semaphore::getStatistics()], 'a throttle');
echo "done\n";
--EXPECT--
done
