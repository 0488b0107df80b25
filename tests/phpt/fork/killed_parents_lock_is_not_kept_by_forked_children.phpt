--TEST--
A SIGKILLed parent's lock is free at once although its forked children live
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$holder = fork(function (ParentLine $parent) use ($directory) {
    $store = new FlockStore($directory);
    $locks = [];
    foreach (['exclusive', 'shared', 'promoted', 'again', 'idle'] as $name) {
        $locks[$name] = new Lock(new Key($name), $store);
    }
    $locks['exclusive']->acquire();
    $locks['shared']->acquireRead();
    $locks['promoted']->acquireRead();
    $locks['promoted']->acquire();
    $locks['again']->acquire();
    $locks['again']->release();
    $locks['again']->acquire();
    $locks['idle']->acquire();
    $locks['idle']->release();
    $child = pcntl_fork();
    if ($child === 0) {
        $grandchild = pcntl_fork();
        if ($grandchild > 0) {
            $parent->say("children $grandchild " . getmypid());
        }
        $parent->stay();
    }
    $parent->hear();
});
preg_match('/^children (\d+) (\d+)$/', $holder->hear(), $match);
foreach (['exclusive', 'shared', 'promoted', 'again'] as $name) {
    check(!is_free($directory, $name), "$name is held by the parent");
}
$holder->kill();
check_same('signal 9', $holder->ending(), 'the ending');
foreach (['exclusive', 'shared', 'promoted', 'again', 'idle'] as $name) {
    check(is_free($directory, $name), "$name is free after the parent's death");
}
check(posix_kill((int) $match[1], 0) && posix_kill((int) $match[2], 0), 'the children live');
$holder->let_go();
echo "done\n";
--EXPECT--
done
