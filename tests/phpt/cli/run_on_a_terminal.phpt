--TEST--
latch run on a terminal: Ctrl-C reaches the command once, Ctrl-Z and fg stop and continue both, a loop breaks off
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
if (!is_executable('/bin/bash') || !is_executable('/usr/bin/setsid')) {
    die('skip needs bash and setsid');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_terminal.inc';

/** The letter of its state in /proc: T = stopped. */
function state(int $pid): string
{
    preg_match('/^State:\s+(\w)/m', (string) @file_get_contents("/proc/$pid/status"), $match);
    return $match[1] ?? '';
}

$directory = temporary_directory();
$quoted = fn (array $command) => implode(' ', array_map(escapeshellarg(...), $command));
$latch = $quoted(latch_command('run', "--store=flock://$directory", 'job', '--'));
// tells each SIGINT, and ends a moment after the first, so that a second one would be seen
$command = $quoted(php_command('-r', '
    pcntl_sigprocmask(SIG_BLOCK, [SIGINT]);
    echo "runs as ", getmypid(), " end\n";
    do { // a stop and the going on interrupt the call
        $signal = @pcntl_sigwaitinfo([SIGINT]);
    } while ($signal !== SIGINT);
    echo "SIGINT ";
    while (pcntl_sigtimedwait([SIGINT], $about, 0, 300000000) === SIGINT) {
        echo "and another one ";
    }
    echo "exits\n";
    exit(3);
'));
$terminal = new Terminal();

// Ctrl-C, handled by the command
$terminal->type("$latch $command; echo code=\$?\n");
$terminal->await('runs as ');
$terminal->await(' end');
$terminal->type("\x03");
check_same('', trim($terminal->await('SIGINT ')), 'before the signal');
check_same('exits', trim($terminal->await('code=')), 'it came once');
$terminal->await('3');

// Ctrl-C, not handled: the shell's loop ends with it
$terminal->type("for i in 1 2 3; do $latch sh -c 'echo round; exec sleep 1000'; done; echo after\n");
$terminal->await('round');
wait_until(fn () => !is_free($directory, 'job'), 'it holds');
$terminal->type("\x03");
$terminal->type("echo code=\$? end''ed\n");
$text = $terminal->await('ended');
check(str_contains($text, 'code=130') && !str_contains($text, 'round') && !str_contains($text, 'after'), "Ctrl-C: $text");
check(is_free($directory, 'job'), 'free after Ctrl-C');

// Ctrl-C while it waits
$holder = holder($directory, 'job');
$waiting = str_replace("'job'", "'--wait' 'job'", $latch);
$terminal->type("for i in 1 2 3; do $waiting echo no; done\n");
wait_until(function () use ($directory) {
    preg_match_all('/-> FLOCK +\w+ +WRITE (\d+) /', file_get_contents('/proc/locks'), $waiting);
    $commands = array_map(fn ($pid) => (string) @file_get_contents("/proc/$pid/cmdline"), $waiting[1]);
    return str_contains(implode(' ', $commands), $directory);
}, 'it waits');
$terminal->type("\x03");
$terminal->type("echo code=\$? end''ed\n");
$text = $terminal->await('ended');
check(str_contains($text, 'code=130') && !str_contains($text, 'no'), "Ctrl-C while waiting: $text");
$holder->say('release');
$holder->hear_exactly('released');
$holder->ending();
check(is_free($directory, 'job'), 'free');

// Ctrl-Z: both stop, the lock is kept; fg: both go on
for ($round = 0; $round < 3; $round++) {
    $terminal->type("$latch $command; echo code=\$?\n");
    $terminal->await('runs as ');
    $child = (int) $terminal->await(' end');
    preg_match('/^PPid:\s+(\d+)/m', file_get_contents("/proc/$child/status"), $match);
    $parent = (int) $match[1];
    $terminal->type("\x1a");
    $terminal->await('Stopped');
    check_same('T', state($child), 'the command is stopped');
    check_same('T', state($parent), 'latch is stopped');
    check(!is_free($directory, 'job'), 'still locked');
    $terminal->type("fg > /dev/null; echo code=\$?\n");
    wait_until(fn () => state($child) === 'S' && state($parent) === 'S', 'both go on');
    $terminal->type("\x03");
    $terminal->await('SIGINT exits');
    $terminal->await('code=3');
}

// a command that stops itself is seen by the shell, too
$terminal->type("$latch sh -c 'kill -TSTP \$\$; echo went on'; echo code=\$?\n");
$terminal->await('Stopped');
$terminal->type("fg > /dev/null; echo code=\$?\n");
$terminal->await('went on');
$terminal->await('code=0');
check(is_free($directory, 'job'), 'free');

// the terminal's end: SIGHUP
$terminal->type("$latch sh -c 'echo lasts; exec sleep 1000'\n");
$terminal->await('lasts');
wait_until(fn () => !is_free($directory, 'job'), 'it holds');
$terminal->hang_up();
wait_until(fn () => is_free($directory, 'job'), 'free after the terminal has gone');

// as the session's leader latch is the only one whom the kernel tells (ssh -t host latch run …)
$terminal = new Terminal();
$terminal->type("exec $latch sh -c 'echo lasts; exec sleep 1000'\n");
$terminal->await('lasts');
wait_until(fn () => !is_free($directory, 'job'), 'it holds');
$terminal->hang_up();
wait_until(fn () => is_free($directory, 'job'), 'free after the terminal of the leader has gone');
echo "done\n";
--EXPECT--
done
