--TEST--
A forked child has no thread and keeps nothing of its parent's, whose locks are kept on; but its own
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Lock;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$losses = new Losses();
$ends = [
    'return' => fn () => 0,
    'exit' => fn () => exit(0),
    'kill' => fn () => posix_kill(posix_getpid(), SIGKILL),
];

$lock = short_lock($server)->keepAlive()->onLost($losses->note('parent'));
check($lock->acquire(), 'acquired');
wait_until_renewed($server);
check_same(2, thread_count(getmypid()), 'threads of the parent');
$connections = count($server->clients());
foreach ($ends as $end => $leave) {
    $child = fork(function (ParentLine $parent) use ($server, $lock, $losses, $leave) {
        check_same(1, thread_count(getmypid()), 'threads of the child');
        check(!$lock->isHeld(), 'the lock is the parent\'s');
        $clone = clone $lock;
        unset($clone, $lock);
        check_same(1, thread_count(getmypid()), 'threads when copies have gone');
        $parent->say('looked');
        $parent->hear_exactly('keep');

        /* What it takes it can keep, also by what its parent has used before. */
        $own = short_lock($server, 'own')->keepAlive()->onLost($losses->note('child'));
        check($own->acquire(), 'acquired in the child');
        check_same(2, thread_count(getmypid()), 'threads of the child that keeps a lock');
        wait_until_renewed($server, 'own');
        check($own->isHeld(), 'held in the child');
        $server->command('DEL', 'own');
        $losses->await('child');
        check_same(1, Lock::getStatistics()['lost'], 'lost in the child');
        check($own->acquire(), 'acquired again');
        $parent->say('kept');
        $parent->hear_exactly('leave');
        return $leave();
    });
    do {
        $heard = (string) $child->hear();
    } while (str_starts_with($heard, 'died of'));
    check_same('looked', $heard, "$end: the child");
    wait_until_renewed($server);
    $child->say('keep');
    $child->hear_exactly('kept');
    wait_until_renewed($server);
    $child->say('leave');
    check_same($end === 'kill' ? 'signal 9' : 'exit 0', $child->ending(), "$end: the child's ending");
    check_same($end === 'kill', !$server->lacks('own'), "$end: the child's lock");
    $server->command('DEL', 'own');
    wait_until(fn () => count($server->clients()) === $connections, "$end: the parent's connections are left");
    wait_until_renewed($server);
    check($lock->isHeld() && $lock->isAcquired(), "$end: the parent holds its lock");
    check_same(2, thread_count(getmypid()), "$end: threads of the parent");
}
check_same([], $losses->told, 'losses of the parent');

/* The same Lock, once the parent is through with it. */
$lock->release();
$child = fork(function (ParentLine $parent) use ($server, $lock, $losses) {
    check($lock->acquire(), 'acquired by the parent\'s Lock');
    wait_until_renewed($server);
    $server->command('DEL', 'r');
    $losses->await('parent');
    return 0;
});
check_same('exit 0', $child->ending(), 'the child with its parent\'s Lock');
check_same([], $losses->told, 'losses of the parent');
check($lock->acquire(), 'acquired');

/* A loss that is not told yet is the parent's to hear of. */
$server->command('DEL', 'r');
$lock->isAcquired(...); // no interrupt comes between what is found and the fork
$child = (function () use ($lock, $losses) {
    $lock->isAcquired();
    $pid = pcntl_fork();
    if ($pid === 0) {
        usleep(1000);
        exit(count($losses->told));
    }
    pcntl_waitpid($pid, $status);
    return pcntl_wexitstatus($status);
})();
check_same($child, 1, 'the loss had been told before the fork');
$losses->await('parent');

/* A daemon takes a lock along: what it does with it is no loss. */
$lock = short_lock($server, autoRelease: false)->keepAlive()->onLost($losses->note('daemon'));
check($lock->acquire(), 'acquired');
$child = fork(function (ParentLine $parent) use ($server, $lock) {
    check(!$lock->isHeld(), 'shared: for certain nobody holds it');
    check($lock->isAcquired(), 'but by the server\'s word');
    $lock->keepAlive()->refresh();
    wait_until_renewed($server);
    check_same(2, thread_count(getmypid()), 'threads of the daemon');
    $lock->release();
    return 0;
});
check_same('exit 0', $child->ending(), 'the daemon');
check($server->lacks('r'), 'released by the daemon');
usleep(1500000);
check(!$lock->isHeld(), 'not held');
check_same([], $losses->told, 'losses of what was handed on');
check_same(0, Lock::getStatistics()['lost'] - 1, 'lost');
echo "done\n";
--EXPECT--
done
