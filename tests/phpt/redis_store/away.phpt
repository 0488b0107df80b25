--TEST--
RedisStore: a server that answers nothing costs its time-out once, not each who asks it; and it is found when it is back
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Exception\ExceptionInterface;
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

/** What a request says, with a store of its own; "" when all goes well. */
function said(RedisServer $server, string $call): string
{
    try {
        $lock = new Lock(new Key('r'), new RedisStore($server->dsn('?timeout=0.3&read_timeout=0.3')), 30);
        $lock->$call();
        return '';
    } catch (ExceptionInterface $e) {
        $message = ($e->getPrevious() ?? $e)->getMessage();
        return get_class($e) . ': ' . preg_replace(['/127\.0\.0\.1:\d+/', '/\d\.\d s\.$/'], ['HOST', 'N s.'], $message) . "\n";
    }
}

$server = new RedisServer();
$server->freeze();
foreach (['acquire', 'acquire', 'acquireRead', 'isAcquired'] as $call) {
    echo said($server, $call);
}
$server->thaw();
wait_until(fn () => said($server, 'acquire') === '', 'it is asked again');
wait_until(fn () => said($server, 'acquire') === '', 'and again');

/* One that is not there refuses, which costs nothing. */
$server->stop();
echo said($server, 'acquire'), said($server, 'acquire');
$server->start();
wait_until(fn () => said($server, 'acquire') === '', 'it was started');
echo "done\n";
--EXPECT--
Latch\Exception\LockAcquiringException: Failed to store the "r" lock: Redis at HOST did not answer within N s.
Latch\Exception\LockAcquiringException: Failed to store the "r" lock: Redis at HOST let others wait in vain, and is asked again in N s.
Latch\Exception\LockAcquiringException: Failed to store the "r" lock: Redis at HOST let others wait in vain, and is asked again in N s.
Latch\Exception\LockStorageException: Failed to store the "r" lock: Redis at HOST let others wait in vain, and is asked again in N s.
Latch\Exception\LockAcquiringException: Failed to store the "r" lock: cannot connect to Redis at HOST: Connection refused.
Latch\Exception\LockAcquiringException: Failed to store the "r" lock: cannot connect to Redis at HOST: Connection refused.
done
