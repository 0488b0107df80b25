--TEST--
Sequence: a process that is forked by a signal handler in the middle of resume() does not have its parent's turn
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Store\RedisStore;
use Latch\SyncFactory;
use Latch\Tests\RedisServer;

pcntl_async_signals(true);
$server = new RedisServer();
$sequence = (new SyncFactory(new RedisStore($server->dsn('?read_timeout=30'))))->createSequence('r', lease: 600);
$ticket = $sequence->enter('a')->ticket;
$main = getmypid();
$said = temporary_directory() . '/child';
pcntl_signal(SIGALRM, function () use ($sequence, $server, $said, &$child) {
    $child = pcntl_fork();
    if ($child === 0) {
        $sequence->getOwner(); // another one than the parent's, whose call is still under way
        while (!is_file("$said.go")) {
            usleep(1000);
        }
    } else {
        $server->thaw();
    }
});
$server->freeze();
pcntl_alarm(1);
$state = outcome(fn () => $sequence->resume($ticket)->state);
if (getmypid() !== $main) {
    file_put_contents("$said.new", $state . ', ' . $sequence->resume($ticket)->state);
    rename("$said.new", $said);
    posix_kill(getmypid(), SIGKILL);
}
touch("$said.go");
wait_until(fn () => is_file($said), 'the child has returned');
pcntl_waitpid($child, $status);
check_same("'go'", $state, 'the parent');
check_same('Latch\Exception\LockStorageException: Failed to resume the "r" sequence: the process was forked in the middle of the '
    . 'call, which its parent goes on with., held', file_get_contents($said), 'the child');
echo "done\n";
?>
--EXPECT--
done
