--TEST--
RedisStore on a client that is PHP code: it may throw, exit, lock and switch fibers in the middle of a command
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/php_client.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\{PhpClient, RedisServer};

$server = new RedisServer();
$client = new PhpClient($server);
prove_lock(
    fn (string $resource) => object_lock($client, $resource),
    fn (string $resource) => new Lock(new Key($resource), new RedisStore($server->dsn())),
    'a client that is PHP code'
);
$ending = function (callable $call): string {
    try {
        return var_export($call(), true);
    } catch (Throwable $e) {
        return messages($e);
    }
};
$once = function (callable $call) use ($client): void {
    $client->after = function () use ($client, $call): void {
        $client->after = null;
        $call();
    };
};

/* What it throws when the server has done what it was asked for. */
$always = fn (callable $call) => $client->after = $call;
$lock = object_lock($client);
foreach ([new LengthException('its message'), new Error('its message')] as $thrown) {
    $always(fn () => throw $thrown);
    echo $ending(fn () => $lock->acquire()), "\n";
    $client->after = null;
    check(!$lock->isHeld() && !$server->lacks('r'), 'granted, of which nobody has heard');
    check($lock->acquire() && $lock->isAcquired(), 'it can be had');
    $lock->release();
    check($server->lacks('r'), 'and is held but once');
}

/* An exception that comes once: all that scripts ask for is a state. */
$once(fn () => throw new LengthException('its message'));
check($lock->acquire() && $lock->isAcquired(), 'acquired by the second try');
$once(fn () => throw new LengthException('its message'));
$lock->release();
check($server->lacks('r'), 'released by the second try');

/* The same client must not be used from within; others can be. */
$inner = object_lock($client, 'inner');
$other = redis_lock($server);
$once(function () use ($ending, $inner, $other, &$said): void {
    $said = $ending(fn () => $inner->acquire());
    check(!$other->acquire(), 'a lock by another connection');
});
check($lock->acquire(), 'a lock that is asked for around another one');
echo $said, "\n";
check($inner->acquire() && $lock->isAcquired(), 'after which all goes on');
$once(function () use (&$inner, $ending): void {
    echo $ending(function () use (&$inner): void {
        $inner = null;
    }), "\n";
});
$lock->refresh();
check(!$server->lacks('inner'), 'a destructor within');
check($lock->isAcquired() && $server->lacks('inner'), 'is made good by the next request');
$lock->release();

/* A fiber cannot be left in the middle of a command. */
$fiber = new Fiber(fn () => $lock->acquire());
$once(fn () => Fiber::suspend());
echo $ending(fn () => $fiber->start()), "\n";
check($lock->acquire(), 'after which all goes on');
$lock->release();

/* Answers that no script of ours gives. */
class LyingClient extends PhpClient
{
    public mixed $lie;

    public function executeCommand(Latch\Tests\PhpCommand $command): mixed
    {
        return $this->lie;
    }
}
$liar = new LyingClient($server);
foreach ([1, -1, 1.5, '', 'x', '12345678901234567890', true, [1], [1, 'x'], [1, 2, 3], [7, 7], new ArrayObject()] as $at => $lie) {
    $liar->lie = $lie;
    $lock2 = object_lock($liar);
    foreach (['acquire', 'isAcquired'] as $method) {
        $said = $ending(fn () => $lock2->$method());
        check(str_contains($said, 'LockStorageException: Failed to store the "r" lock: ')
            || ($method === 'isAcquired' && $said === 'true' && $lie === [7, 7])
            || ($method === 'isAcquired' && $said === 'false'), "lie $at: $method: $said");
    }
    $liar->lie = null;
    unset($lock2);
}

/* exit() goes on, and what may have been granted is given back all the same. */
register_shutdown_function(function () use ($client, $server): void {
    $client->after = null;
    check(!$server->lacks('r'), 'it was granted');
    $GLOBALS['lock'] = $GLOBALS['inner'] = null;
    check(object_lock($client, 'next')->acquire() && $server->lacks('r'), 'and is given back');
    echo "done\n";
});
unset($other);
$client->after = fn () => exit;
$lock->acquire();
echo "BROKEN: exit() does not end the script\n";
--EXPECT--
LockAcquiringException: Failed to acquire the "r" lock: lost the connection to Redis at the given connection: its message. <- LockStorageException: Failed to store the "r" lock: lost the connection to Redis at the given connection: its message. <- LengthException: its message
Error: its message
LockAcquiringException: Failed to acquire the "inner" lock: the client is in the middle of a call, or PHP code cannot be called any more. <- LockStorageException: Failed to store the "inner" lock: the client is in the middle of a call, or PHP code cannot be called any more.
LockReleasingException: Failed to release the "inner" lock: the client is in the middle of a call, or PHP code cannot be called any more. <- LockStorageException: Failed to store the "inner" lock: the client is in the middle of a call, or PHP code cannot be called any more.
FiberError: Cannot switch fibers in current execution context
done
