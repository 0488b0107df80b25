--TEST--
A kept lock whose key was handed over and that was released there is not lost; its key tells its time
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$factory = new LockFactory(new RedisStore($server->dsn()));
$losses = new Losses();
$logger = new Logger();

$keep = fn (Lock $lock) => $lock->keepAlive()->onLost($losses->note('lost'));
$ways = [
    'then serialised' => function (Lock $lock, Key $key) use ($keep): string {
        $keep($lock);
        return serialize($key);
    },
    'serialised before' => function (Lock $lock, Key $key) use ($keep): string {
        $serialised = serialize($key);
        $keep($lock);
        return $serialised;
    },
];
foreach ($ways as $when => $hand_over) {
    $lock = $factory->createLockFromKey($key = new Key('r'), 2, false);
    check($lock->acquire(), "$when: acquired");
    $serialised = $hand_over($lock, $key);
    wait_until_renewed($server);
    check($lock->isHeld() && $lock->getRemainingLifetime() > 0, "$when: held");

    /* What is serialised later has the time that the lock has then. */
    check(!unserialize(serialize($key))->isExpired(), "$when: the key is not expired");
    $left = unserialize(serialize($key))->getRemainingLifetime();
    check($left > 0 && $left <= 2, "$when: the key's time: $left");
    check(abs($key->getRemainingLifetime() - $lock->getRemainingLifetime()) < 1, "$when: the lock's time");

    $child = fork(function (ParentLine $parent) use ($factory, $server, $serialised) {
        $lock = $factory->createLockFromKey(unserialize($serialised), 2, true);
        check($lock->isAcquired(), 'acquired, where it was handed over to');
        $lock->keepAlive()->refresh();
        check($lock->isAcquired(), 'refreshed');
        $lock->release();
        return 0;
    });
    check_same('exit 0', $child->ending(), "$when: the child");
    check($server->lacks('r'), "$when: released by the other one");
    wait_until(fn () => !$lock->isHeld(), "$when: that is known");
    usleep(100000);
    check_same([], $losses->told, "$when: losses");
    check_same(0, Lock::getStatistics()['lost'], "$when: lost");
    $lock->setLogger($logger);
    $lock->release();
    check_same(['debug: Successfully released the "<r>" lock.'], $logger->take(), "$when: the release is none of a lost lock");
}

/* Who got it need not be a child of this process; and the key knows how long the lock is held by now. */
foreach ($ways as $when => $hand_over) {
    $lock = $factory->createLockFromKey($key = new Key('r'), 2, false);
    $begun = hrtime(true);
    check($lock->acquire(), "$when: acquired");
    $hand_over($lock, $key);
    wait_until(fn () => hrtime(true) > $begun + 2e9, "$when: longer than its first time");
    check(!$key->isExpired() && !unserialize(serialize($key))->isExpired(), "$when: the key's time goes on");
    $server->command('DEL', 'r');
    wait_until(fn () => !$lock->isHeld(), "$when: it is gone");
    usleep(100000);
    check_same([], $losses->told, "$when: losses, with no child");
    $lock->release();
}

/* Who gets a key can keep its lock. */
$lock = $factory->createLockFromKey($key = new Key('r'), 2, false);
check($lock->acquire(), 'acquired');
$child = fork(function (ParentLine $parent) use ($factory, $server, $key, $losses) {
    $lock = $factory->createLockFromKey(unserialize(serialize($key)), 2)->keepAlive()->onLost($losses->note('lost'));
    check($lock->acquire() && $lock->isHeld(), 'acquired by the token');
    $parent->say('taken over');
    wait_until_renewed($server);
    $parent->hear_exactly('go on');
    check($lock->isHeld(), 'held');
    $server->command('DEL', 'r');
    $losses->await('lost');
    return 0;
});
$child->hear_exactly('taken over');
unset($lock, $key);
wait_until_renewed($server);
$child->say('go on');
check_same('exit 0', $child->ending(), 'who took it over');

/* With automatic release a key that was serialised is no excuse: nobody else is to release it. */
$lock = $factory->createLockFromKey($key = new Key('r'), 2)->keepAlive()->onLost($losses->note('automatic'));
check($lock->acquire(), 'acquired');
serialize($key);
$server->command('DEL', 'r');
$losses->await('automatic');
echo "done\n";
--EXPECT--
done
