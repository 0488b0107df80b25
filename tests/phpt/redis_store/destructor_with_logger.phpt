--TEST--
RedisStore: a destructor does not wait for the server's answer, also when a logger is told of the release
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$lock = redis_lock($server);
$lock->setLogger($logger = new Logger());
check($lock->acquire(), 'acquired');
$logger->lines = [];
$server->freeze();
unset($lock);
print_r($logger->lines);
$server->thaw();
wait_until(fn () => holders($server) === 'nobody', 'it is released');
check_same(2, $server->count('eval'), 'the acquire, whose script was not known, and the release');

/* What has expired is asked for, as nobody knows. */
$lock = new Latch\Lock(new Latch\Key('r'), new Latch\Store\RedisStore($server->dsn()), 1.0);
$lock->setLogger($logger);
check($lock->acquire(), 'acquired again');
$logger->lines = [];
wait_until(fn () => !$lock->isHeld(), 'expired');
wait_until(fn () => holders($server) === 'nobody', 'at the server, too');
unset($lock);
print_r($logger->lines);
?>
--EXPECT--
Array
(
    [0] => debug: Successfully released the "<r>" lock.
)
Array
(
)
