--TEST--
latch run: killed itself, the lock stays with the command and its children; ended normally, it stays with nobody
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

$directory = temporary_directory();
foreach (["flock://$directory", "flock+remove://$directory"] as $dsn) {
    $run = ['run', "--store=$dsn", 'job', '--'];

    // killed: the command goes on, and nobody else can start
    $program = latch_run_cat("--store=$dsn", 'job');
    [$command] = children_of($program->pid);
    check_same('signal 9', $program->kill(SIGKILL)->ending(), 'latch is killed');
    check(posix_kill($command, 0), 'the command lives');
    check(!is_free($directory, 'job'), 'the lock stays with the command');
    check_same('exit 75', latch(...['run', "--store=$dsn", '-q', 'job', '--', 'true'])->ending(), 'another run is refused');
    check_same(
        "exit 75: held, exclusive, by $command (cat)\n|",
        latch_to_end('status', "--store=$dsn", 'job'),
        'status knows the command'
    );
    $next = latch('run', "--store=$dsn", '--wait', 'job', '--', 'echo', 'next');
    // /proc/locks of a container does not show who waits for a lock whose taker is dead
    wait_until(fn () => thread_count($next->pid) > 1, 'it waits, in a thread');
    $program->let_go();
    check_same("exit 0: next\n|", $next->all(), 'the next one runs when the command has ended');

    // killed: what the command started keeps it, too
    $program = latch(...$run, ...['sh', '-c', 'cat <&0 & echo running'])->await("running\n");
    check_same('exit 0', $program->ending(), 'latch ends with the command, not with what it left behind');
    check(is_free($directory, 'job'), 'the program left behind does not keep the lock');
    $program->let_go();

    $program = latch(...$run, ...['sh', '-c', 'sh -c "echo running; cat"; exit 3'])->await("running\n");
    $program->kill(SIGKILL)->ending();
    check(!is_free($directory, 'job'), 'a grandchild keeps the lock of a killed latch');
    $program->let_go();
    wait_until(fn () => is_free($directory, 'job'), 'the lock is free when the last one has ended');
}

// the same for readers
$one = latch_run_cat("--store=flock://$directory", '--shared', 'job');
$other = latch_run_cat("--store=flock://$directory", '--shared', 'job');
$one->kill(SIGKILL)->ending();
$other->let_go()->ending();
check(!is_free($directory, 'job') && is_free($directory, 'job', LOCK_SH), 'shared as before');
$one->let_go();
wait_until(fn () => is_free($directory, 'job'), 'free');

// killed while it waits: nothing is left
$holder = holder($directory, 'job');
$program = latch('run', "--store=flock://$directory", '--wait', 'job', '--', 'echo', 'no');
wait_until_it_waits($program->pid);
check_same('signal 9: |', $program->kill(SIGKILL)->all(), 'killed while it waits');
$holder->say('release');
$holder->hear_exactly('released');
check(is_free($directory, 'job'), 'free');
echo "done\n";
--EXPECT--
done
