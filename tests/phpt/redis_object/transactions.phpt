--TEST--
RedisStore on a \Redis object: in a transaction or a pipeline nothing is sent, which says so; and a destructor's release follows
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$redis = phpredis($server);
$held = object_lock($redis, 'held');
$held->acquire();
foreach (['multi' => Redis::MULTI, 'pipeline' => Redis::PIPELINE] as $case => $mode) {
    $lock = object_lock($redis);
    $redis->multi($mode)->set('set', $case);
    $scripts = $server->count('type');
    foreach ([
        'acquire' => fn () => $lock->acquire(),
        'acquireRead' => fn () => $lock->acquireRead(),
        'a wait' => fn () => $lock->acquire(true, 5),
        'isAcquired' => fn () => $held->isAcquired(),
        'refresh' => fn () => $held->refresh(),
        'release' => fn () => $held->release(),
    ] as $method => $call) {
        try {
            $call();
            check(false, "$case: $method");
        } catch (Exception $e) {
            check(str_contains(messages($e), 'InvalidArgumentException: Failed to store the')
                && str_contains(messages($e), 'call its exec() or discard() first'), "$case: $method: " . messages($e));
        }
    }
    check_same($scripts, $server->count('type'), "$case: nothing was sent");
    check($held->isHeld(), "$case: what is held is held still");
    check_same([true], $redis->exec(), "$case: what the transaction does is its user's alone");
    check_same($case, $server->command('GET', 'set'), "$case: and was done");
    check($held->isAcquired() && $lock->acquire(), "$case: after it all goes on");

    // A lock that goes in the middle of a transaction.
    $redis->multi($mode);
    try {
        unset($lock);
        check(false, "$case: a destructor");
    } catch (Latch\Exception\LockReleasingException $e) {
        check(str_contains(messages($e), 'discard() first'), messages($e));
    }
    $redis->discard();
    check(!$server->lacks('r'), "$case: it was not released");
    $held->isAcquired();
    check($server->lacks('r'), "$case: it is, before the next request");
}

/* By a command of its own a transaction is begun behind the object's back: who is told "QUEUED" has no lock. */
$lock = object_lock($redis);
$redis->rawCommand('MULTI');
try {
    check(!$lock->acquire(), 'a queued command is no lock');
    check(false, 'it is an error');
} catch (Latch\Exception\LockAcquiringException $e) {
    echo messages($e), "\n";
}
check(!$lock->isHeld(), 'nothing is held');
$redis->rawCommand('EXEC');
check(!$server->lacks('r'), 'it was taken then');
$held->isAcquired();
check($server->lacks('r'), 'and is given back before the next request');

/* WATCH does no harm. */
$redis->watch('set');
check($lock->acquire(), 'acquired while keys are watched');
check_same([true], $redis->multi()->set('set', 'x')->exec(), 'which nothing of ours has changed');
unset($lock, $held, $call);
check_same(['latch:fencing', 'set'], (function () use ($server) {
    $keys = $server->command('KEYS', '*');
    sort($keys);
    return $keys;
})(), 'nothing is left');
echo "done\n";
--EXPECT--
LockAcquiringException: Failed to acquire the "r" lock: lost the connection to Redis at the given connection: it is in a transaction, and has queued the command. <- LockStorageException: Failed to store the "r" lock: lost the connection to Redis at the given connection: it is in a transaction, and has queued the command.
done
