--TEST--
latch run: the command ignores and blocks the signals that it would without latch, and has its streams, open or closed
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
$run = ['run', "--store=flock://$directory", 'job', '--'];

/** Runs a command after a shell has set something up; "%s" is latch. */
function in_shell(string $script, string ...$command): string
{
    return (new Program(['sh', '-c', $script, 'sh', ...latch_command(...$command)]))->let_go()->all();
}

$signals = ['sed', '-n', '/^Sig\\(Blk\\|Ign\\)/s/\\s\\+/ /p', '/proc/self/status'];
$state = fn (int $blocked, int $ignored) => sprintf("exit 0: SigBlk: %016x\nSigIgn: %016x\n|", $blocked, $ignored);
check_same($state(0, 0), in_shell('exec "$@"', ...$run, ...$signals), 'nothing is ignored or blocked');
check_same($state(0, 0x4003), in_shell('trap "" HUP INT TERM; exec "$@"', ...$run, ...$signals), 'ignored: HUP, INT, TERM');
check_same($state(0, 0xa04), in_shell('trap "" QUIT USR1 USR2; exec "$@"', ...$run, ...$signals), 'ignored: QUIT, USR1, USR2');
check_same($state(0, 1), in_shell('exec nohup "$@"', ...$run, ...$signals), 'nohup');

pcntl_signal(SIGCHLD, SIG_IGN); // then the kernel reaps, and there is nothing to wait for
$program = latch(...$run, ...$signals);
pcntl_signal(SIGCHLD, SIG_DFL);
check_same($state(0, 0x10000), $program->all(), 'ignored: CHLD');

$mask = [SIGHUP, SIGCHLD, SIGTERM, SIGUSR1, SIGWINCH];
pcntl_sigprocmask(SIG_BLOCK, $mask);
$program = latch(...$run, ...$signals);
pcntl_sigprocmask(SIG_UNBLOCK, $mask);
check_same($state(0x8014201, 0), $program->all(), 'blocked');

// a command whose reader is gone ends silently, by SIGPIPE, which PHP ignores
check_same("exit 0: y\n|", in_shell('"$@" | head -n 1', ...$run, ...['yes']), 'a pipe whose reader is gone');

// nohup: the hang-up of the terminal disturbs neither the wait nor the command
$holder = holder($directory, 'job');
$program = new Program(['sh', '-c', 'trap "" HUP; exec "$@"', 'sh', ...latch_command('run', "--store=flock://$directory", '--wait', 'job', '--', 'echo', 'yes')]);
wait_until_it_waits($program->pid);
$program->kill(SIGHUP);
$holder->say('release');
check_same("exit 0: yes\n|", $program->all(), 'SIGHUP under nohup');
$holder->ending();

// standard streams that are closed stay closed, and none of them is the lock file
$list = "exec 9> $directory/seen; " . 'for fd in 0 1 2; do test -e /proc/$$/fd/$fd || printf "%s " "$fd closed" >&9; done';
foreach (['' => '', '<&-' => '0 closed ', '>&-' => '1 closed ', '2>&-' => '2 closed ', '<&- >&- 2>&-' => '0 closed 1 closed 2 closed '] as $how => $expected) {
    check_same('exit 0: |', in_shell("exec \"\$@\" $how", ...$run, ...['sh', '-c', $list]), "how it ends, $how");
    check_same($expected, file_get_contents("$directory/seen"), "closed by '$how'");
    $ending = in_shell("exec \"\$@\" $how", ...$run, ...['sh', '-c', 'echo out; echo err >&2; exit 7']);
    check(str_starts_with($ending, 'exit 7: '), "$ending, $how");
    check_same(0, filesize(lock_file($directory, 'job')), "nothing was written into the lock file, $how");
}
echo "done\n";
--EXPECT--
done
