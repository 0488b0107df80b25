--TEST--
A semaphore never has more permits out than its limit says, in memory and in Redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\{Lock, LockFactory};
use Latch\Semaphore\{Key, Semaphore, SemaphoreFactory};
use Latch\Semaphore\Exception\{SemaphoreAcquiringException, SemaphoreExpiredException};
use Latch\Semaphore\Store\{InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (['memory' => new InMemoryStore(), 'Redis' => new RedisStore($server->dsn())] as $name => $store) {
    $factory = new SemaphoreFactory($store);

    /* One permit each. */
    $semaphores = array_map(fn () => $factory->createSemaphore('s', 3), range(0, 4));
    $got = array_map(fn (Semaphore $semaphore) => $semaphore->acquire(), $semaphores);
    check_same([true, true, true, false, false], $got, "$name: who gets one of three");
    check_same($got, array_map(fn ($semaphore) => $semaphore->isAcquired(), $semaphores), "$name: by the store");
    check_same($got, array_map(fn ($semaphore) => $semaphore->isHeld(), $semaphores), "$name: for certain");
    check($semaphores[0]->acquire() && !$semaphores[4]->acquire(), "$name: once more changes nothing");
    $semaphores[1]->release();
    check(!$semaphores[1]->isHeld() && !$semaphores[1]->isAcquired(), "$name: given back");
    check($semaphores[4]->acquire() && !$semaphores[3]->acquire() && !$semaphores[1]->acquire(), "$name: one more is free");
    $semaphores[3]->release();
    check(!$semaphores[1]->acquire(), "$name: what is not held frees nothing");
    unset($semaphores);

    /* Weights. */
    $heavy = $factory->createSemaphore('s', 5, 4);
    $light = $factory->createSemaphore('s', 5, 2);
    $lightest = $factory->createSemaphore('s', 5);
    check($heavy->acquire() && !$light->acquire() && $lightest->acquire(), "$name: four and one of five");
    $heavy->release();
    check($light->acquire() && !$heavy->acquire(), "$name: two and one of five, and not four");
    check_same(['s', 5, 2], [(string) ($key = new Key('s', 5, 2)), $key->getLimit(), $key->getWeight()], "$name: a key");
    unset($light, $lightest);
    $all = $factory->createSemaphore('s', 5, 5);
    check($all->acquire(), "$name: all of them");
    check(!$factory->createSemaphore('s', 5)->acquire() && $factory->createSemaphore('other', 5)->acquire(), "$name: none of this is left");
    check($factory->createSemaphore('s', 6)->acquire(), "$name: the limit that the caller names counts");
    unset($all);

    /* Limits up to 2^53 are exact. */
    $big = $factory->createSemaphore('big', 2 ** 53, 2 ** 53 - 1);
    check($big->acquire() && !$factory->createSemaphore('big', 2 ** 53, 2)->acquire(), "$name: all but one, and two");
    $last = $factory->createSemaphore('big', 2 ** 53);
    check($last->acquire() && !$factory->createSemaphore('big', 2 ** 53)->acquire(), "$name: and the last one");

    /* A clone shares the permits; the last one that has them gives them back. */
    $one = $factory->createSemaphore('clone', 1);
    $one->acquire();
    $clone = clone $one;
    unset($one);
    check($clone->isAcquired() && !$factory->createSemaphore('clone', 1)->acquire(), "$name: the clone has it");
    unset($clone);
    check($factory->createSemaphore('clone', 1)->acquire(), "$name: nobody has it");

    /* Two keys of one name are two holders; one key is one. */
    $key = new Key('key', 2);
    [$first, $second] = [$factory->createSemaphoreFromKey($key), $factory->createSemaphoreFromKey($key)];
    check($first->acquire() && $second->acquire() && $factory->createSemaphore('key', 2)->acquire(), "$name: one holder");

    /* synchronized() */
    $semaphore = $factory->createSemaphore('sync', 2, 2);
    $other = $factory->createSemaphore('sync', 2);
    check_same([false, 5], [$semaphore->synchronized(fn () => $other->acquire()), $semaphore->synchronized(fn () => 5)], "$name: synchronized()");
    check($other->acquire(), "$name: free behind it");
    check_same('Latch\Semaphore\Exception\SemaphoreAcquiringException: The "sync" semaphore was not free within 0.01 seconds.',
        outcome(fn () => $semaphore->synchronized(fn () => check(false, 'called'), 0.01)), "$name: in vain");
    $other->synchronized(fn () => null);
    check($other->isHeld(), "$name: what was held before is held behind it");
    check_same('Exception: mine', outcome(fn () => $factory->createSemaphore('sync', 3)->synchronized(fn () => throw new Exception('mine'))), "$name: it throws");
    check($factory->createSemaphore('sync', 3, 2)->acquire(), "$name: and gives back");

    /* The same by a store's methods, with Symfony's messages. */
    [$a, $b] = [new Key('methods', 3, 2), new Key('methods', 3, 2)];
    check_same(null, $store->save($a, 10), "$name: save()");
    check_same('Latch\Semaphore\Exception\SemaphoreAcquiringException: The semaphore "methods" could not be acquired: the script return false.',
        outcome(fn () => $store->save($b, 10)), "$name: a second save()");
    check_same([true, false, null], [$store->exists($a), $store->exists($b), $a->getRemainingLifetime()], "$name: exists()");
    check_same('Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "methods" has expired: the script returns a positive number.',
        outcome(fn () => $store->putOffExpiration($b, 10)), "$name: putOffExpiration() of none");
    check(!$store->exists($b), "$name: that has made none");
    $store->putOffExpiration($a, 20);
    $store->delete($b);
    check($store->exists($a), "$name: delete() of none");
    $store->delete($a);
    $store->save($b, 10);
    check(!$store->exists($a) && $store->exists($b), "$name: delete()");

    /* A lock of that name is something else. */
    $lock = (new LockFactory($name === 'Redis' ? new Latch\Store\RedisStore($server->dsn()) : new Latch\Store\InMemoryStore()))->createLock('both');
    $semaphore = $factory->createSemaphore('both', 1);
    check($lock->acquire() && $semaphore->acquire() && $lock->isAcquired() && $semaphore->isAcquired(), "$name: a lock and a permit of one name");
    unset($lock);
    check($semaphore->isAcquired(), "$name: the lock's end is not the permit's");
}
echo "done\n";
--EXPECT--
done
