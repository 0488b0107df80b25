--TEST--
RedisStore: Sentinels are asked for the master, which is followed by who holds, waits and renews
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_fork.inc';
require __DIR__ . '/../../utils/redis_sentinel.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisTrio;

const PATIENT = '&timeout=30&read_timeout=30';

$trio = new RedisTrio(['requirepass' => 'server-pw'], 'sentinel-pw');
$lock = fn (string $name, float $ttl = 300.0, string $rest = PATIENT): Lock
    => new Lock(new Key($name), new RedisStore($trio->dsn($rest)), $ttl);

/* Taken from the master, with the password that each of them wants. */
$held = $lock('held');
check($held->acquire(), 'acquired');
check($trio->servers[0]->command('EXISTS', 'held') === 1, 'it is in the master');
$token = $held->getFencingToken();

/* What is renewed goes on being so: through a failover, and the death of the next master. */
$told = [];
$kept = $lock('kept', 20.0)->keepAlive()->onLost(function () use (&$told) {
    $told[] = 'lost';
});
check($kept->acquire(), 'acquired');

/* Others wait for what is held. */
$child = fork(function (ParentLine $parent) use ($lock) {
    $wanted = $lock('held');
    $parent->say('waiting');
    $parent->say($wanted->acquire(true, PATIENCE) ? 'granted ' . $wanted->getFencingToken() : 'refused');
    $wanted->release();
});
$child->hear_exactly('waiting');
wait_until(fn () => $trio->servers[0]->command('ZCARD', 'latch:queue:held') === 1, 'it is queued');
$trio->awaitReplicas($trio->servers[0]);

$second = $trio->failOver();
check($second !== $trio->servers[0], 'another master');
$held->refresh();
wait_until(fn () => $trio->insist($second, 'ZCARD', 'latch:queue:held') === 1, 'it is queued again');
check(!$lock('held')->acquire(), 'the hold goes on');
$held->release();
preg_match('/^granted (\d+)$/', (string) $child->hear(), $match);
check(($match[1] ?? 0) > $token, 'the next has it, with a greater number');
check_same('exit 0', $child->ending(), 'the ending of who has waited');

/* The master dies; the one that was it before is a replica by then. */
wait_until(function () use ($trio, $second) {
    return $trio->insist($trio->servers[0], 'ROLE')[0] === 'slave' && $second->info('replication')['connected_slaves'] === '2';
}, 'the old master follows the new one');
$trio->awaitReplicas($second);
$second->stop();
check(!$lock('kept')->acquire(), 'who kept it has it still, at the third master');
$third = $trio->awaitAnother($second);
$left = $third->command('PTTL', 'kept');
wait_until(function () use ($third, &$left) {
    $before = $left;
    $left = $third->command('PTTL', 'kept');
    return $left > $before;
}, 'it is renewed there');
check($kept->isHeld() && $told === [], 'it was never lost');
$kept->release();
check($third->command('EXISTS', 'kept') === 0, 'it is released there');

/* Nobody is left who knows. */
foreach ($trio->sentinels as $sentinel) {
    $sentinel->stop();
}
check($held->acquire(), 'who is connected is not disturbed');
$held->release();
try {
    $lock('new', rest: '&timeout=1&persistent_id=other')->acquire();
    echo "BROKEN: acquired\n";
} catch (Latch\Exception\LockAcquiringException $e) {
    echo preg_replace('/\d{4,}/', 'PORT', messages($e)), "\n";
    check(!str_contains(messages($e) . print_r($e, true), '-pw'), 'no password in it');
}
?>
--EXPECT--
LockAcquiringException: Failed to acquire the "new" lock: no Sentinel of 127.0.0.1:PORT, 127.0.0.1:PORT, 127.0.0.1:PORT tells where the master "my-master" is; the last one: cannot connect to Redis at 127.0.0.1:PORT: Connection refused. <- LockStorageException: Failed to store the "new" lock: no Sentinel of 127.0.0.1:PORT, 127.0.0.1:PORT, 127.0.0.1:PORT tells where the master "my-master" is; the last one: cannot connect to Redis at 127.0.0.1:PORT: Connection refused.
