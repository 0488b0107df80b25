--TEST--
Who waits for a lock file is served in the order of coming, and overtaken by nobody who comes back at once
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip valgrind lets no other thread run while one waits in fcntl() with F_OFD_SETLKW');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

const MANY = 100;
const TURN = 32; // so often a process may take the lock again at once, in 3 ms
const OVERTAKEN_MAX = 32 + TURN + 2; // who has met nobody for a while looks for others once in 32 times

$directory = temporary_directory();
$wait = fn (string $name) => function (ParentLine $parent) use ($directory, $name) {
    $lock = new Lock(new Key('r'), new FlockStore($directory));
    $lock->acquire(true);
    file_put_contents("$directory/order", $name, FILE_APPEND);
    $lock->release();
    return 0;
};

$lock = new Lock(new Key('r'), new FlockStore($directory));
$lock->acquire();
$waiters = [];
foreach (['a', 'b', 'c', 'd', 'e'] as $name) {
    $waiters[] = $waiter = fork($wait($name));
    wait_until_it_waits($waiter->pid);
}
usleep(6_000); // its turn is over
$lock->release();
$lock->acquire(true); // behind them all
check_same('abcde', file_get_contents("$directory/order"), 'the order');
foreach ($waiters as $waiter) {
    $waiter->ending();
}
$lock->release();

/* A waiter that is stopped cannot take it when it is free: it is certain who gives way. */
$attempts = [
    'acquire(true)' => fn () => $lock->acquire(true, 0.01),
    'acquire()' => fn () => $lock->acquire(),
    'acquireRead(true)' => fn () => $lock->acquireRead(true, 0.01),
    'acquireRead()' => fn () => $lock->acquireRead(),
];
foreach ($attempts as $name => $attempt) {
    $lock->acquire();
    $waiter = fork($wait('f'));
    wait_until_it_waits($waiter->pid);
    posix_kill($waiter->pid, SIGSTOP);
    pcntl_waitpid($waiter->pid, $status, WUNTRACED);
    $lock->release();
    $overtaken = 0;
    for ($i = 0; $i < MANY; $i++) {
        $overtaken += (int) $attempt();
        $lock->release();
    }
    check($overtaken <= OVERTAKEN_MAX, "$name: $overtaken times");
    posix_kill($waiter->pid, SIGCONT);
    $waiter->ending();
}
echo "done\n";
--EXPECT--
done
