--TEST--
RedisStore: the end of a process waits one second for all servers that are silent, and those that answer are told
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

const STORES = 20;

$silent = new RedisServer();
$well = new RedisServer();
$child = fork(function (ParentLine $parent) use ($silent, $well) {
    $locks = [];
    for ($at = 0; $at < STORES; $at++) {
        $locks[] = new Lock(new Key("r$at"), new RedisStore($silent->dsn("?persistent_id=$at")));
    }
    $locks[] = new Lock(new Key('r'), new RedisStore($well->dsn()));
    foreach ($locks as $lock) {
        check($lock->acquire(), 'acquired');
    }
    $parent->say('held');
    $parent->hear();
    $GLOBALS['locks'] = $locks; // which are released at the end of the script
    return 0;
});
$child->hear_exactly('held');
check_same('a writer', holders($well), 'the server that is well');
$silent->freeze();
$begun = hrtime(true);
$child->say('end');
check_same('exit 0', $child->ending(), 'the ending');
$seconds = (hrtime(true) - $begun) / 1e9;
check($seconds < STORES / 2, "it took $seconds s");
wait_until(fn () => holders($well) === 'nobody', 'what the other server had is released');
$silent->thaw();
wait_until(fn () => $silent->command('DBSIZE') === $silent->command('EXISTS', 'latch:fencing'), 'and what this one had, when it is back');
echo "done\n";
--EXPECT--
done
