--TEST--
RedisStore: a destructor that cannot release says so: by an exception, by a warning at the script's end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$lock = redis_lock($server);
check($lock->acquire(), 'acquired');
$server->stop();
try {
    unset($lock);
    echo "BROKEN: no exception\n";
} catch (Latch\Exception\LockReleasingException $e) {
    echo preg_replace('/127\.0\.0\.1:\d+/', 'ADDRESS', messages($e)), "\n";
}
$server->start();
$lock = redis_lock($server);
check($lock->acquire(), 'acquired again');
$server->stop();
echo "end\n";
?>
--EXPECTF--
LockReleasingException: Failed to release the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
end

Warning: Latch: Failed to release the "r" lock: cannot connect to Redis at 127.0.0.1:%d: Connection refused. in %s on line %d
