--TEST--
RedisStore on a \Redis object: a server that is away, is restarted, refuses, or whose answer is lost
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\Tests\{RedisProxy, RedisServer};

$server = new RedisServer();
$redis = phpredis($server);

/** How it fails: the message, and the client's own exception behind it. */
function failure(callable $call, string $case): string
{
    try {
        return "$case: " . var_export($call(), true);
    } catch (Exception $e) {
        check(!str_contains(messages($e), 'EVALSHA') && preg_match('~[A-Za-z0-9+/]{43}=~', messages($e)) === 0, "$case: no token is shown");
        return "$case: " . preg_replace('/127\.0\.0\.1:\d+/', 'ADDRESS', messages($e));
    }
}

/* Away. */
$lock = object_lock($redis);
$lock->acquire();
$server->stop();
echo failure(fn () => $lock->refresh(), 'refresh'), "\n";
echo failure(fn () => $lock->release(), 'release'), "\n";
echo failure(fn () => object_lock($redis)->acquire(true, 60), 'a wait'), "\n";
echo failure(fn () => object_lock(new Redis())->acquire(), 'a client that nobody has connected'), "\n";
$gone = object_lock($redis, 'gone');
$server->start();
$redis->connect('127.0.0.1', $server->port);
check($lock->acquire() && $lock->isAcquired(), 'all goes on');
$lock->release();

/* A connection that was closed, by its user or by the server, is phpredis's to make anew. */
$redis->close();
$redis->connect('127.0.0.1', $server->port);
check($lock->acquire(), 'connected anew');
$server->command('CLIENT', 'KILL', 'ID', $redis->rawCommand('CLIENT', 'ID'));
check($lock->isAcquired(), 'connected anew by itself');
$lock->release();

/* A connection that breaks when the server has done what it was asked for. */
$proxy = new RedisProxy($server);
$behind = phpredis($proxy, ['OPT_READ_TIMEOUT' => PATIENCE]);
$lock = object_lock($behind);
$lock->acquire();
$lock->release();
foreach (['acquire' => true, 'release' => null] as $method => $result) {
    $proxy->set('drop');
    check_same($result, $lock->$method(), "$method whose answer was lost");
    check_same('pass', $proxy->mode(), "$method: the connection was cut");
    check_same($method === 'acquire', $lock->isAcquired(), "$method: what has come of it");
}

/* A server that is silent for longer than the client waits: what it may have granted is given back. */
$behind->setOption(Redis::OPT_READ_TIMEOUT, 0.3);
$proxy->set('hang');
echo failure(fn () => $lock->acquire(), 'a time-out'), "\n";
check(!$lock->isHeld() && !$server->lacks('r'), 'it was granted, of which nobody has heard');
$proxy->set('pass');
$behind->setOption(Redis::OPT_READ_TIMEOUT, PATIENCE);
object_lock($behind, 'another')->acquire();
check($server->lacks('r'), 'it is given back before the next request');
check($lock->acquire(), 'and can be had');
$lock->release();

/* What the server says. */
$server->command('RPUSH', 'r', 'x');
echo failure(fn () => object_lock($redis)->acquire(), 'not a lock'), "\n";
$server->command('SET', 'r', 'x');
echo failure(fn () => object_lock($redis)->acquire(), 'an old lock'), "\n";
$server->command('DEL', 'r');
$server->command('ACL', 'SETUSER', 'default', '-evalsha');
echo failure(fn () => object_lock($redis)->acquire(), 'not allowed'), "\n";
$server->command('ACL', 'SETUSER', 'default', '+evalsha');
$server->command('CONFIG', 'SET', 'maxmemory', 1);
echo failure(fn () => object_lock($redis)->acquire(), 'out of memory'), "\n";
$server->command('CONFIG', 'SET', 'maxmemory', 0);
$server->command('REPLICAOF', '127.0.0.1', 1);
echo failure(fn () => object_lock($redis)->acquire(), 'a replica'), "\n";
$server->command('REPLICAOF', 'NO', 'ONE');
check(object_lock($redis)->acquire(), 'all goes on in the end');

/* Without memory of what was. */
$lock = object_lock($redis);
$lock->acquire();
$server->command('FLUSHALL');
check(!$lock->isAcquired(), 'forgotten');
check_same('conflict', attempt(fn () => $lock->refresh(), 'refresh'), 'not renewed');
echo "done\n";
--EXPECT--
done
