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
class ForgetfulRedis extends Redis
{
    public int $losses = 0;

    public function evalSha($sha, $args = [], $num_keys = 0): mixed
    {
        $answer = parent::evalSha($sha, $args, $num_keys);
        if ($this->losses > 0) {
            $this->losses--;
            throw new RedisException('read error on connection');
        }
        return $answer;
    }
}

$forgetful = new ForgetfulRedis();
$forgetful->connect('127.0.0.1', $server->port);
$lock = object_lock($forgetful);
foreach (['acquire' => true, 'release' => null] as $method => $result) {
    $forgetful->losses = 1;
    check_same($result, $lock->$method(), "$method whose answer was lost");
    check_same(0, $forgetful->losses, "$method: it was");
    check_same($method === 'acquire', $lock->isAcquired(), "$method: what has come of it");
}
$proxy = new RedisProxy($server);
$behind = phpredis($proxy);
$lock = object_lock($behind);
$lock->acquire();
$lock->release();

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

/* An answer that comes too late is not that to the next request. */
$server->command('SET', 'r', 'somebody else\'s');
$slow = phpredis($server, ['OPT_READ_TIMEOUT' => 0.1]);
$server->command('CLIENT', 'PAUSE', 500);
echo failure(fn () => object_lock($slow, 'slow')->acquire(), 'an overdue answer'), "\n";
$slow->setOption(Redis::OPT_READ_TIMEOUT, PATIENCE);
check(!object_lock($slow)->acquire(), 'the answer to another request is no grant');
$server->command('DEL', 'r');

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
--EXPECTF--
refresh: LockAcquiringException: Failed to define an expiration for the "r" lock: lost the connection to Redis at the given connection: %s <- LockStorageException: Failed to store the "r" lock: lost the connection to Redis at the given connection: %s <- RedisException: %s
release: LockReleasingException: Failed to release the "r" lock: lost the connection to Redis at the given connection: %s <- LockStorageException: Failed to store the "r" lock: lost the connection to Redis at the given connection: %s <- RedisException: %s
a wait: LockAcquiringException: Failed to acquire the "r" lock: lost the connection to Redis at the given connection: %s <- LockStorageException: Failed to store the "r" lock: lost the connection to Redis at the given connection: %s <- RedisException: %s
a client that nobody has connected: LockAcquiringException: Failed to acquire the "r" lock: %s <- LockStorageException: Failed to store the "r" lock: %s <- RedisException: %s
a time-out: LockAcquiringException: Failed to acquire the "r" lock: lost the connection to Redis at the given connection: %s <- LockStorageException: Failed to store the "r" lock: lost the connection to Redis at the given connection: %s <- RedisException: %s
an overdue answer: LockAcquiringException: Failed to acquire the "slow" lock: lost the connection to Redis at the given connection: %s <- LockStorageException: Failed to store the "slow" lock: lost the connection to Redis at the given connection: %s <- RedisException: %s
not a lock: LockAcquiringException: Failed to acquire the "r" lock: Redis at the given connection answered: WRONGTYPE %s <- LockStorageException: Failed to store the "r" lock: Redis at the given connection answered: WRONGTYPE %s
an old lock: false
not allowed: LockAcquiringException: Failed to acquire the "r" lock: Redis at the given connection answered: NOPERM %s <- LockStorageException: Failed to store the "r" lock: Redis at the given connection answered: NOPERM %s <- RedisException: %s
out of memory: LockAcquiringException: Failed to acquire the "r" lock: Redis at the given connection answered: OOM %s <- LockStorageException: Failed to store the "r" lock: Redis at the given connection answered: OOM %s
a replica: LockAcquiringException: Failed to acquire the "r" lock: Redis at the given connection answered: READONLY %s <- LockStorageException: Failed to store the "r" lock: Redis at the given connection answered: READONLY %s
done
