--TEST--
A lock of two seconds is held for as long as PHP is blocked, and nobody else gets it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$lock = short_lock($server, ttl: 2);
check_same($lock, $lock->keepAlive(), 'keepAlive() returns the lock');
check($lock->acquire(), 'acquired');
$token = $lock->getFencingToken();
$other = fork(function (ParentLine $parent) use ($server) {
    $lock = redis_lock($server);
    $parent->say('ready');
    $tries = 0;
    $parent->hear_exactly('go');
    stream_set_blocking($parent->socket, false);
    for (; fgets($parent->socket) === false; $tries++) {
        if ($lock->acquire()) {
            $parent->say('it was free');
            return 1;
        }
        usleep(1000);
    }
    stream_set_blocking($parent->socket, true);
    $parent->say($tries > 0 ? 'never free' : 'not tried');
    return 0;
});
$other->hear_exactly('ready');
$other->say('go');
sleep(10);
check($lock->isHeld() && !$lock->isExpired(), 'held');
check($lock->getRemainingLifetime() > 0 && $lock->getRemainingLifetime() <= 2, 'for two seconds at most');
check_same($token, $lock->getFencingToken(), 'the fencing token');
check($lock->isAcquired(), 'acquired, by the server\'s word');
$other->say('stop');
$other->hear_exactly('never free');
check_same('exit 0', $other->ending(), 'the other one');
check_same(0, Latch\Lock::getStatistics()['lost'], 'lost');
$lock->release();
check($server->lacks('r'), 'released');

/* On a lock that is held already. */
$lock = short_lock($server);
check($lock->acquire(), 'acquired');
$lock->keepAlive();
wait_until_renewed($server);
check($lock->isHeld(), 'held');
unset($lock);
wait_until(fn () => $server->lacks('r'), 'it is released with its object');
echo "done\n";
--EXPECT--
done
