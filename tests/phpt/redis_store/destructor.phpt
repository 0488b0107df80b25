--TEST--
RedisStore: a destructor awaits no answer, tries once, and what it could not do is no other lock's fault
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer(['requirepass' => 'secret']);

/* No answer comes. Who awaited it would throw in the end. */
$lock = redis_lock($server, '?read_timeout=1');
check($lock->acquire(), 'acquired');
$server->freeze();
unset($lock);
$server->thaw();
wait_until(fn () => holders($server) === 'nobody', 'it is released');

/* In the server's place, somebody who takes connections and says nothing. */
$lock = redis_lock($server, '?timeout=2');
check($lock->acquire(), 'acquired');
$server->stop();
$mute = stream_socket_server("tcp://127.0.0.1:$server->port", $number, $message);
check($mute !== false, "it listens: $message");
echo outcome(function () use (&$lock) {
    $lock = null;
}), "\n";
$connections = 0;
while (@stream_socket_accept($mute, 0) !== false) {
    $connections++;
}
check_same(1, $connections, 'connections that the destructor has made');
fclose($mute);

/* Locks that lie in memory where that one lay. */
$server->start();
$store = new RedisStore($server->dsn());
for ($number = 0; $number < 100; $number++) {
    $locks[$number] = new Lock(new Key("r$number"), $store);
    $locks[$number]->setLogger(new Logger());
    check($locks[$number]->acquire(), "lock $number");
}
unset($locks);
wait_until(fn () => $server->command('KEYS', 'r*') === [], 'all are released');

/* Of connections that no store uses any more eight stay, beside that of $store. */
for ($number = 0; $number < 20; $number++) {
    (new Lock(new Key('r'), new RedisStore($server->dsn("?persistent_id=$number"))))->acquire();
}
check(count($server->clients()) <= 9, 'surplus connections are closed');
echo "done\n";
?>
--EXPECTF--
Latch\Exception\LockReleasingException: Failed to release the "r" lock: cannot connect to Redis at 127.0.0.1:%d%s.
done
