--TEST--
RedisStore on a client object: signal handlers run while it waits, may end the wait, and run after a command, not in it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/php_client.inc';

use Latch\Tests\{PhpClient, RedisServer};

$server = new RedisServer();
$client = new PhpClient($server);
$lock = object_lock($client);
/* Another program's: a wait for what this thread holds would be refused. */
$server->command('SET', 'r', 'theirs');
pcntl_async_signals(true);

/* In a wait: a handler that uses the same client, and one that throws. */
$used = object_lock($client, 'used by a handler');
$handled = 0;
pcntl_signal(SIGUSR1, function () use ($used, &$handled): void {
    check($used->acquire() && $used->isAcquired(), 'a handler can use the client');
    $used->release();
    $handled++;
});
$polls = 0;
$client->after = function () use (&$polls): void {
    if (++$polls === 3) {
        posix_kill(getmypid(), SIGUSR1);
    }
};
check_same(false, $lock->acquire(true, PATIENCE / 20), 'a wait goes on behind a handler');
check_same(1, $handled, 'the handler has run');
pcntl_signal(SIGUSR1, fn () => throw new LengthException('enough'));
$polls = 0;
try {
    $lock->acquire(true, PATIENCE);
    check(false, 'a wait ends by an exception');
} catch (LengthException $e) {
    check(!$lock->isHeld(), $e->getMessage());
}

/* In a command: the handler waits until it has ended. */
$server->command('DEL', 'r');
$inside = false;
pcntl_signal(SIGUSR1, function () use (&$inside, &$handled): void {
    check(!$inside, 'no handler runs in a command');
    $handled++;
});
$client->before = function () use (&$inside): void {
    $inside = true;
    posix_kill(getmypid(), SIGUSR1);
};
$client->after = function () use (&$inside): void {
    $inside = false;
};
check($lock->acquire(), 'acquired');
check_same(2, $handled, 'the handler has run then');
$client->before = null;
$lock->release();
echo "done\n";
--EXPECT--
done
