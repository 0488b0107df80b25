--TEST--
A SIGKILLed parent's lock is free at once although commands that it started live
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$holder = fork(function (ParentLine $parent) use ($directory) {
    $store = new FlockStore($directory);
    $locks = [];
    foreach (['automatic' => true, 'by hand' => false] as $name => $automatic) {
        $locks[$name] = new Lock(new Key($name), $store, null, $automatic);
        $locks[$name]->acquire();
    }
    // cat reads from a socket whose other end the test holds: it lives as long as that
    $input = [0 => $parent->leash, 1 => ['file', '/dev/null', 'w'], 2 => ['file', '/dev/null', 'w']];
    $process = proc_open(['cat'], $input, $pipes);
    $shell = proc_open('cat; true', $input, $pipes);
    $parent->say(proc_get_status($process)['pid'] . ' ' . proc_get_status($shell)['pid']);
    $parent->hear();
});
$pids = array_map('intval', explode(' ', $holder->hear()));
foreach ($pids as $pid) {
    // until then it is a fork, which has the descriptor of the lock that a daemon may take along
    wait_until(fn () => !str_contains((string) @readlink("/proc/$pid/exe"), 'php'), 'the command is started');
}
foreach (['automatic', 'by hand'] as $name) {
    check(!is_free($directory, $name), "$name is held by the parent");
}
$holder->kill();
check_same('signal 9', $holder->ending(), 'the ending');
foreach ($pids as $pid) {
    check($pid > 0 && posix_kill($pid, 0), 'the command lives');
}
foreach (['automatic', 'by hand'] as $name) {
    check(is_free($directory, $name), "$name is free after the parent's death");
}
$holder->let_go();
echo "done\n";
--EXPECT--
done
