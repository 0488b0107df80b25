--TEST--
A loss that comes with a signal is told, and what the signal's handler throws goes on
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Tests\RedisServer;

class FromHandler extends Exception
{
}

pcntl_async_signals(true);
$server = new RedisServer();
$directory = temporary_directory();
$losses = new Losses();
$main = getmypid();
$handled = 0;
pcntl_signal(SIGUSR1, function () use (&$handled) {
    $handled++;
    throw new FromHandler();
});

foreach ([false, true] as $throws) {
    $losses->then = fn () => $throws ? throw new RuntimeException('from the callback') : null;
    $lock = short_lock($server, ttl: 1.5)->keepAlive()->onLost($losses->note('lost'));
    check($lock->acquire(), 'acquired');
    /* Both come while PHP is in a system call, which goes on after the signal: they are dealt with together. */
    $other = fork(function (ParentLine $parent) use ($server, $directory, $main) {
        $file = fopen(lock_file($directory, 'other'), 'c+');
        flock($file, LOCK_EX);
        $parent->say('held');
        wait_until(fn () => queues_for_a_flock($main), 'the other process is in flock()');
        posix_kill($main, SIGUSR1);
        $scripts = $server->count('type');
        $server->command('DEL', 'r');
        wait_until(fn () => $server->count('type') > $scripts, 'a renewal finds it gone');
        usleep(100000);
        return 0;
    });
    $other->hear_exactly('held');
    $file = fopen(lock_file($directory, 'other'), 'c+');
    try {
        flock($file, LOCK_EX);
        usleep(1000);
        echo "BROKEN: nothing was thrown\n";
    } catch (FromHandler $e) {
        $previous = $e->getPrevious();
        check($previous === null || $previous->getMessage() === 'from the callback', 'the exception before it');
    }
    check_same('exit 0', $other->ending(), 'the other process');
    try {
        $losses->await('lost');
    } catch (RuntimeException $e) { // it was not told beside the signal
        check_same('from the callback', $e->getMessage(), 'what the callback throws');
        $losses->await('lost');
    }
    fclose($file);
    check(!$lock->isHeld(), 'not held');
    unset($lock, $e); // what is thrown holds on to the lock
}
check_same(2, $handled, 'signals');
echo "done\n";
--EXPECT--
done
