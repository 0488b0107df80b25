--TEST--
Semaphores as slots: never more permits out than the limit says, in any store of locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_slots.inc';

use Latch\{Lock, LockFactory};
use Latch\Key as LockKey;
use Latch\Semaphore\{Key, Semaphore, SemaphoreFactory};
use Latch\Semaphore\Store\{LockStore, StoreFactory};
use Latch\Store\{FlockStore, InMemoryStore, RedisStore, SemaphoreStore, SharedMemoryStore};
use Latch\Tests\RedisServer;

$directory = temporary_directory();
$redis = new RedisServer();
$postgresql = Ground::postgresql();
$mysql = Ground::mysql();
$stores = [
    'files' => new FlockStore($directory),
    'memory' => new InMemoryStore(),
    'System V' => new SemaphoreStore('latch-slots-' . getmypid()),
    'shared memory' => new SharedMemoryStore("$directory/memory", 1000),
    'Redis' => new RedisStore($redis->dsn()),
    'PostgreSQL' => $postgresql->store(),
    'MySQL' => $mysql->store(),
    'PHP' => new LocksInPhp(temporary_directory()),
];
foreach ($stores as $name => $locks) {
    $store = slots_in($locks);
    $factory = new SemaphoreFactory($store);
    $isFree = function (string $resource) use ($locks): bool {
        $lock = new Lock(new LockKey($resource), $locks, 300.0);
        $free = $lock->acquire();
        $free && $lock->release();
        return $free;
    };

    /* One permit each. */
    $semaphores = array_map(fn () => $factory->createSemaphore('s', 3), range(0, 4));
    $got = array_map(fn (Semaphore $semaphore) => $semaphore->acquire(), $semaphores);
    check_same([true, true, true, false, false], $got, "$name: who gets one of three");
    check_same($got, array_map(fn ($semaphore) => $semaphore->isAcquired(), $semaphores), "$name: by the store");
    check_same($got, array_map(fn ($semaphore) => $semaphore->isHeld(), $semaphores), "$name: for certain");
    check_same([false, false, false, true, true], array_map(fn (string $name) => $isFree($name), ['s_0', 's_1', 's_2', 's_3', 's']), "$name: the locks");
    check($semaphores[0]->acquire() && !$semaphores[4]->acquire(), "$name: once more changes nothing");
    $semaphores[1]->release();
    check(!$semaphores[1]->isHeld() && !$semaphores[1]->isAcquired(), "$name: given back");
    check($semaphores[4]->acquire() && !$semaphores[3]->acquire() && !$semaphores[1]->acquire(), "$name: one more is free");
    $semaphores[3]->release();
    check(!$semaphores[1]->acquire(), "$name: what is not held frees nothing");
    unset($semaphores);

    /* Weights: all or none. */
    $heavy = $factory->createSemaphore('s', 5, 4);
    $light = $factory->createSemaphore('s', 5, 2);
    $lightest = $factory->createSemaphore('s', 5);
    check($heavy->acquire() && !$light->acquire() && $lightest->acquire(), "$name: four and one of five");
    $heavy->release();
    check($light->acquire() && !$heavy->acquire(), "$name: two and one of five, and not four");
    check_same(2, count(array_filter(['s_0', 's_1', 's_2', 's_3', 's_4'], $isFree)), "$name: nothing is left of the four");
    $light->refresh();
    check($light->isHeld() && $light->isAcquired(), "$name: refreshed");
    unset($light, $lightest);
    $all = $factory->createSemaphore('s', 5, 5);
    check($all->acquire() && !$factory->createSemaphore('s', 5)->acquire(), "$name: all of them");
    check($factory->createSemaphore('s', 6)->acquire(), "$name: the limit that the caller names counts");
    check($factory->createSemaphore('other', 5)->acquire(), "$name: another semaphore");
    unset($all);

    /* A lock of the slot's name excludes. */
    $lock = new Lock(new LockKey('s_0'), $locks, 300.0);
    check($lock->acquire() && !$factory->createSemaphore('s', 2, 2)->acquire(), "$name: a lock has a slot");
    unset($lock);

    /* A clone shares the permits; the last one that has them gives them back. */
    $one = $factory->createSemaphore('clone', 1);
    $one->acquire();
    $clone = clone $one;
    unset($one);
    check($clone->isAcquired() && !$factory->createSemaphore('clone', 1)->acquire(), "$name: the clone has it");
    unset($clone);

    /* One key is one holder, also in another LockStore on the same locks. */
    $key = new Key('key', 2);
    $first = $factory->createSemaphoreFromKey($key);
    $second = new Semaphore($key, slots_in($locks));
    check($first->acquire() && $second->acquire() && $factory->createSemaphore('key', 2)->acquire(), "$name: one holder");
    unset($first, $second, $key);

    /* synchronized() */
    $semaphore = $factory->createSemaphore('sync', 2, 2);
    $other = $factory->createSemaphore('sync', 2);
    check_same([false, 5], [$semaphore->synchronized(fn () => $other->acquire()), $semaphore->synchronized(fn () => 5)], "$name: synchronized()");
    check($other->acquire(), "$name: free behind it");
    check_same('Latch\Semaphore\Exception\SemaphoreAcquiringException: The "sync" semaphore was not free within 0.01 seconds.',
        outcome(fn () => $semaphore->synchronized(fn () => check(false, 'called'), 0.01)), "$name: in vain");
    unset($semaphore, $other);

    /* The store's methods, with Symfony's messages. */
    [$a, $b] = [new Key('methods', 3, 2), new Key('methods', 3, 2)];
    check_same(null, $store->save($a, 10), "$name: save()");
    check_same('Latch\Semaphore\Exception\SemaphoreAcquiringException: The semaphore "methods" could not be acquired: There were no free locks found.',
        outcome(fn () => $store->save($b, 10)), "$name: a second save()");
    check_same([true, false, null], [$store->exists($a), $store->exists($b), $a->getRemainingLifetime()], "$name: exists()");
    check_same('Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "methods" has expired: One or multiple locks were not even acquired..',
        outcome(fn () => $store->putOffExpiration($b, 10)), "$name: putOffExpiration() of none");
    check_same('Latch\Semaphore\Exception\UnserializableKeyException: The key cannot be serialized: state owned by "Latch\Semaphore\Store\LockStore" is not portable.',
        outcome(fn () => serialize($a)), "$name: serialize()");
    $store->putOffExpiration($a, 20);
    $store->delete($b);
    check($store->exists($a), "$name: delete() of none");
    $store->delete($a);
    $store->save($b, 10);
    check(!$store->exists($a) && $store->exists($b), "$name: delete()");
    $store->delete($b);

    /* A resource with any bytes. */
    $odd = $factory->createSemaphore("../a {b}\0c/\u{fc}", 1);
    check($odd->acquire() && !$isFree("../a {b}\0c/\u{fc}_0") && $isFree('../a {b}_0'), "$name: odd bytes");
    unset($odd);

    /* Who has them. */
    [$two, $one] = [$factory->createSemaphore('s', 5, 2), $factory->createSemaphore('s', 4)];
    check($two->acquire() && $one->acquire(), "$name: three are held");
    if ($name === 'PHP') {
        check_same('Latch\Semaphore\Exception\RuntimeException: The permits of the "s" semaphore cannot be counted: Latch\Semaphore\Store\LockStore '
            . 'is written in PHP, and has no method for that.', outcome(fn () => $two->available()), "$name: available()");
        check(str_starts_with(outcome(fn () => $store->inspect(new Key('s', 5))), 'Latch\Semaphore\Exception\SemaphoreStorageException: The holders are unknown'), "$name: inspect()");
    } else {
        check_same([2, 7], [$two->available(), $factory->createSemaphore('other', 7)->available()], "$name: available()");
        $found = $store->inspect(new Key('s', 5));
        check_same(['s', 3], [$found['name'], $found['used']], "$name: inspect()");
        check_same(3, array_sum(array_column($found['holders'], 'weight')), "$name: their weights");
        check_same($found['holderCount'], count($found['holders']), "$name: their number");
        check_same(['used' => 0, 'holders' => [], 'holderCount' => 0, 'waiters' => 0, 'name' => 'free'], $store->inspect(new Key('free', 3)), "$name: nobody");
    }
    check($two->isHeld() && $one->isAcquired(), "$name: all as before");
    unset($two, $one);
    check(count(array_filter(['s_0', 's_1', 's_2', 's_3', 's_4'], $isFree)) === 5, "$name: all free in the end");
}
check_same([getmypid()], array_column((function () use ($stores) {
    $semaphore = new Semaphore(new Key('s', 3, 3), slots_in($stores['files']));
    $semaphore->acquire();
    return slots_in($stores['files'])->inspect(new Key('s', 3))['holders'];
})(), 'pid'), 'one process is one holder');
check_same([0, 0], [$postgresql->server->held(), $mysql->server->held()], 'locks that are left in the servers');
check_same([], $redis->command('KEYS', '*_?'), 'and in Redis');
echo "done\n";
--EXPECT--
done
