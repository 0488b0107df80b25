--TEST--
RedisStore: a script that ends with many locks releases all of them, though nobody awaits the answers
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

const LOCKS = 200;

class Registry
{
    public static array $locks = [];
}

/* Each release has some 5 kB. A server that cannot write its answer to the first of them gives up the client,
   with what it has not read yet. */
$server = new RedisServer();
foreach (['return' => fn () => 0, 'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR)] as $end => $call) {
    $child = fork(function () use ($server, $call) {
        for ($at = 0; $at < LOCKS; $at++) {
            Registry::$locks[$at] = new Lock(new Key("r$at"), new RedisStore($server->dsn()), 300);
            check(Registry::$locks[$at]->acquire(), "r$at is acquired");
        }
        return $call();
    });
    check_same($end === 'return' ? 'exit 0' : 'exit 255', $child->ending(), $end);
    for ($at = 0; $at < LOCKS; $at++) {
        check($server->lacks("r$at"), "$end: r$at is released");
    }
}

/* A server that does not answer holds nobody up for ever. */
$child = fork(function () use ($server) {
    $lock = new Lock(new Key('r'), new RedisStore($server->dsn()), 300);
    check($lock->acquire(), 'acquired');
    $server->command('CLIENT', 'PAUSE', '3600000');
    return 0;
});
check_same('exit 0', $child->ending(), 'it ends without an answer');
echo "done\n";
--EXPECT--
done
