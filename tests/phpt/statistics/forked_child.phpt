--TEST--
A forked child counts from zero, and its parent goes on
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\{Key, Lock};
use Latch\Store\InMemoryStore;

$store = new InMemoryStore();
$lock = new Lock(new Key('a'), $store);
$other = new Lock(new Key('a'), $store);
$lock->acquire();
$other->acquire(true, 0.2);
$before = Lock::getStatistics();
check($before['acquired'] === 1 && $before['conflicts'] === 1 && $before['waitSeconds'] > 0, 'the parent has counted');
$child = fork(function (ParentLine $parent) {
    $parent->say(json_encode(Lock::getStatistics()));
    $lock = new Lock(new Key('b'), new InMemoryStore());
    $lock->acquire();
    $parent->say((string) Lock::getStatistics()['acquired']);
    return 0;
});
$child->hear_exactly('{"acquired":0,"conflicts":0,"waits":0,"waitSeconds":0,"releasedAtShutdown":0,"lost":0}');
$child->hear_exactly('1');
check_same('exit 0', $child->ending(), 'the child');
check_same($before, Lock::getStatistics(), 'the parent');
$lock->release();
$lock->acquire();
check_same($before['acquired'] + 1, Lock::getStatistics()['acquired'], 'the parent goes on');
echo "done\n";
--EXPECT--
done
