--TEST--
A member that fails is the one that the exception names, whatever became of the others; after a fatal error shutdown functions can use the multi-lock
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$names = array_map(fn (int $number) => "r$number", range(1, 40));

/* Something else has the name of the first one. */
$server->command('RPUSH', 'r1', 'no lock');
$said = outcome(multi_lock(new RedisStore($server->dsn()), $names)->acquire(...));
check(preg_match('/^Latch\\\\Exception\\\\LockAcquiringException: Failed to acquire the "r1" lock: [^"]*$/', $said) === 1, $said);
wait_until(fn () => $server->command('KEYS', 'r*') === ['r1'], 'nothing is left');

/* A fatal error in the middle of a wait. */
$other = multi_lock(new RedisStore($server->dsn()), ['a', 'b']);
check($other->acquire(), 'another holder');
$child = fork(function (ParentLine $parent) use ($server) {
    $multi = multi_lock(new RedisStore($server->dsn()), ['b', 'c']);
    register_shutdown_function(function () use ($multi, $parent) {
        $parent->say(outcome($multi->isAcquired(...)));
        $parent->say(outcome($multi->acquire(...)));
        $parent->say(outcome($multi->release(...)));
    });
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, fn () => @trigger_error('the end', E_USER_ERROR));
    $multi->acquire(true);
    return 1;
});
wait_until(fn () => waiters($server, 'b') === 1, 'it waits');
posix_kill($child->pid, SIGUSR1);
$child->hear_exactly('died of: the end');
$child->hear_exactly('false');
$child->hear_exactly('false');
$child->hear_exactly('NULL');
check_same('exit 255', $child->ending(), 'ending');
echo "done\n";
--EXPECT--
done
