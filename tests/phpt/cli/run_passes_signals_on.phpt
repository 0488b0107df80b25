--TEST--
latch run: signals reach the command; those that come while latch waits for the lock end it, with nothing taken
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
$store = "--store=flock://$directory";

// a command that tells each signal and ends after the last one
$signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGIO, SIGPWR];
$program = latch('run', $store, 'job', '--', ...php_command('-r', '
    pcntl_sigprocmask(SIG_BLOCK, $signals = array_map("intval", array_slice($argv, 1)));
    echo "ready\n";
    do {
        $signal = pcntl_sigwaitinfo($signals);
        echo "got $signal\n";
    } while ($signal !== SIGPWR);
    exit(5);
', ...array_map(strval(...), $signals)));
$program->await("ready\n");
foreach ($signals as $signal) {
    $program->kill($signal)->await("got $signal\n");
}
check_same('exit 5', $program->ending(), 'it ends by itself');
check_same(count($signals), substr_count($program->out(), 'got '), 'each signal came once');

// the command's end by a signal that latch was sent
foreach ([SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM] as $signal) {
    $program = latch_run_cat($store, 'job')->kill($signal);
    check_same('exit ' . (128 + $signal), $program->ending(), "signal $signal");
    check(is_free($directory, 'job'), "free after signal $signal");
}
check_same('signal ' . SIGINT, latch_run_cat($store, 'job')->kill(SIGINT)->ending(), 'SIGINT');

// an alarm that was set before latch was started comes from the kernel, as Ctrl-C does, but to latch alone
$alarm = 'pcntl_alarm(4); pcntl_exec($argv[1], array_slice($argv, 2));';
$program = new Program(php_command('-r', $alarm, '--', ...latch_command('run', $store, 'job', '--', 'cat')));
check_same('exit 142', $program->ending(), 'an alarm');
check(is_free($directory, 'job'), 'free after an alarm');

// at any moment between start and end: the command never runs on without latch, nothing stays locked
for ($attempt = 0; $attempt < 20; $attempt++) {
    $program = latch('run', $store, 'job', '--', 'sh', '-c', 'echo running; exec cat');
    usleep($attempt * 2000);
    $program->kill(SIGTERM);
    $ending = $program->ending();
    // before latch catches it, it is of the default action
    check(in_array($ending, ['exit 143', 'signal 15'], true), "$ending in attempt $attempt");
    check(is_free($directory, 'job'), "free after attempt $attempt");
}

// while latch waits
$holder = holder($directory, 'job');
foreach ([SIGHUP, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM] as $signal) {
    $program = latch('run', $store, '--wait', 'job', '--', 'echo', 'no');
    wait_until_it_waits($program->pid);
    check_same('exit ' . (128 + $signal) . ': |', $program->kill($signal)->all(), "signal $signal while waiting");
}
$program = latch('run', $store, '--wait=1000', 'job', '--', 'echo', 'no');
wait_until_it_waits($program->pid);
check_same('signal 2: |', $program->kill(SIGINT)->all(), 'SIGINT while waiting');
$holder->say('release');
$holder->hear_exactly('released');
check(is_free($directory, 'job'), 'nobody was left in the queue');
echo "done\n";
--EXPECT--
done
