--TEST--
RedisStore: a fencing token is its holder's, also in a process that was forked
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn());
foreach ([true, false] as $auto_release) {
    $case = $auto_release ? 'released with its process' : 'handed on';
    $lock = new Lock(new Key('r'), $store, 300, $auto_release);
    check_same(null, $lock->getFencingToken(), "$case: before");
    check($lock->acquire(), $case);
    $token = $lock->getFencingToken();
    check_same((int) $server->command('GET', 'latch:fencing'), $token, "$case: held");
    $child = fork(function () use ($lock, $token, $auto_release, $case) {
        check_same($auto_release ? null : $token, $lock->getFencingToken(), "$case: in a child");
        return 0;
    });
    check_same('exit 0', $child->ending(), "$case: the child");
    check_same($token, $lock->getFencingToken(), "$case: after the child");
    check($lock->acquireRead(), "$case: demoted");
    check_same(null, $lock->getFencingToken(), "$case: shared");
    check($lock->acquire(), "$case: promoted");
    check($lock->getFencingToken() > $token, "$case: promoted");
    $lock->release();
    check_same(null, $lock->getFencingToken(), "$case: released");
}
echo "done\n";
?>
--EXPECT--
done
