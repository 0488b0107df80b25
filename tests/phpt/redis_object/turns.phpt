--TEST--
RedisStore on a client object: who waits there has its turn beside processes that hand the lock to each other
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/php_client.inc';

use Latch\Tests\{PhpClient, RedisServer};

$server = new RedisServer();
$hand_over = function (ParentLine $parent) use ($server) {
    $lock = redis_lock($server, '?peers=no');
    $parent->say('begins');
    while (!$server->lacks('go on')) {
        $lock->acquire(true);
        $lock->release();
    }
    return 0;
};
$server->command('SET', 'go on', '1');
$children = array_map(fn () => fork($hand_over), range(1, 6));
foreach ($children as $child) {
    $child->hear_exactly('begins');
}
$lock = object_lock(new PhpClient($server));
for ($turn = 1; $turn <= 3; $turn++) {
    $tokens = (int) $server->command('GET', 'latch:fencing');
    check($lock->acquire(true, 10 * max(1.0, PATIENCE / 40)), "turn $turn");
    $lock->release();
    wait_until(fn () => (int) $server->command('GET', 'latch:fencing') > $tokens + 1, 'the others go on');
}
$server->command('DEL', 'go on');
foreach ($children as $child) {
    check_same('exit 0', $child->ending(), 'a child');
}
echo "done\n";
--EXPECT--
done
