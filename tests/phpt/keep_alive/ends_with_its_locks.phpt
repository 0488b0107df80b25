--TEST--
A lock is kept for as long as a Lock lives that wants it kept, and not beyond its release
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Exception\{LockAcquiringException, LockExpiredException};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn());

/* A release that crosses a renewal: nothing is left, and nothing comes after it. */
$lock = short_lock($server, ttl: 0.12)->keepAlive();
$releases = 0;
for ($times = 0; $times < 120; $times++) {
    try {
        check($lock->acquire(), 'it is free');
    } catch (LockAcquiringException $e) {
        check($e->getPrevious() instanceof LockExpiredException, messages($e));
        continue; // it ran out meanwhile: the machine stood still
    }
    usleep(random_int(0, 80000));
    $lock->release();
    if (!$server->lacks('r')) {
        echo "BROKEN: it is there after its release\n";
    }
    $releases++;
}
check($releases > 60, "$releases releases");
wait_until(function () use ($server) {
    $scripts = $server->count('type'); // a renewal may have been on its way
    usleep(200000);
    return $server->count('type') === $scripts;
}, 'no scripts come after the last release');
unset($lock);

/* Without automatic release a lock outlives its object, but for its time only. */
$lock = short_lock($server, ttl: 1.5, autoRelease: false)->keepAlive();
check($lock->acquire(), 'acquired');
wait_until_renewed($server);
unset($lock);
check(!$server->lacks('r'), 'it is not released');
wait_until(fn () => $server->lacks('r'), 'it expires');

/* A clone wants what its original wants; what a clone alone wants ends with it. */
$lock = short_lock($server, autoRelease: false)->keepAlive();
check($lock->acquire(), 'acquired');
$clone = clone $lock;
unset($lock);
wait_until_renewed($server);
check($clone->isHeld(), 'held by the clone');
$other = clone $clone;
$clone->release();
check(!$other->isHeld() && $server->lacks('r'), 'released by one of both');
check($other->acquire(), 'acquired by the other one');
unset($clone);
wait_until_renewed($server);
$other->release();

/* The same with two Locks on one key, of which one wants it. */
$key = new Key('r');
$factory = new LockFactory($store);
$plain = $factory->createLockFromKey($key, 1.5, false);
$keeper = $factory->createLockFromKey($key, 1.5, false)->keepAlive();
check($plain->acquire(), 'acquired');
wait_until_renewed($server);
check($plain->isHeld() && $keeper->isHeld() && !$key->isExpired(), 'held by both');
unset($keeper);
wait_until(fn () => $server->lacks('r'), 'it is not kept any more');
check(!$plain->isHeld() && $key->isExpired(), 'held by none');

/* And when both want it, for as long as the more patient one. */
$losses = new Losses();
$brief = $factory->createLockFromKey($key, 1.5, false)->keepAlive(0.1)->onLost($losses->note('brief'));
$long = $factory->createLockFromKey($key, 1.5, false)->keepAlive();
check($brief->acquire(), 'acquired');
wait_until_renewed($server);
unset($long);
$losses->await('brief'); // as soon as the patient one is gone
wait_until(fn () => $server->lacks('r'), 'it has expired'); // the server counts from later

/* A refresh is what the lock is renewed by then, be it longer or shorter. */
$lock = short_lock($server)->keepAlive();
check($lock->acquire(), 'acquired');
$lock->refresh(30);
check($server->command('PTTL', 'r') > 15000 && $lock->getRemainingLifetime() > 15, 'refreshed for longer');
$lock->refresh(2);
check($server->command('PTTL', 'r') <= 2001 && $lock->getRemainingLifetime() <= 2, 'refreshed for less');
wait_until_renewed($server);
check($server->command('PTTL', 'r') <= 2001 && $lock->getRemainingLifetime() <= 2, 'renewed for that');
check($lock->isHeld(), 'held');

/* Promotion and demotion go on with it. */
check($lock->acquireRead() && $lock->isHeld(), 'demoted');
wait_until_renewed($server);
check_same('1 readers', holders($server), 'the holders then');
check($lock->acquire() && $lock->isHeld(), 'promoted');
wait_until_renewed($server);
check_same('a writer', holders($server), 'the holders in the end');

/* A key that gets another state has another lock: the one that it had is let go. */
$key = new Key('r');
$lock->release();
$lock = $factory->createLockFromKey($key, 1.5)->keepAlive();
check($lock->acquire(), 'acquired');
$key->setState('Symfony\Component\Lock\Store\RedisStore', 'another');
check(!$lock->isHeld(), 'it is another lock');
wait_until(fn () => $server->lacks('r'), 'nobody renews it');
echo "done\n";
--EXPECT--
done
