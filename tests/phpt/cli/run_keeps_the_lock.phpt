--TEST--
latch run in Redis: the lock lasts as long as the command, beyond its TTL, and no longer than that when latch dies
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = "--store={$server->dsn()}";

/** Returns when that time has passed, during which one and the same had the lock. */
function prove_kept(RedisServer $server, float $seconds, string $case): void
{
    $members = $server->command('ZRANGE', 'r', 0, -1);
    $end = hrtime(true) + $seconds * 1e9;
    do {
        if ($server->command('ZRANGE', 'r', 0, -1) !== $members || $server->command('PTTL', 'r') < 0) {
            check(false, "$case: it is held all the time");
            return;
        }
        usleep(1000);
    } while (hrtime(true) < $end);
}

foreach ([['--ttl=2'], ['--ttl=2', '--keep-alive'], ['--ttl=2', '--shared']] as $options) {
    $case = implode(' ', $options);
    $program = latch_run_cat($store, 'r', ...$options);
    check($server->command('PTTL', 'r') <= 2000, "$case: no longer at a time");
    prove_kept($server, $options === ['--ttl=2'] ? 7 : 3, $case);
    check_same("exit 0: running\n|", $program->let_go()->all(), "$case: it ends well");
    check_same('nobody', holders($server), "$case: free then");
}

// without --ttl it is short, as it can be renewed
$program = latch_run_cat($store, 'r');
$left = $server->command('PTTL', 'r');
check($left > 20000 && $left <= 30000, "it expires in 30 s: $left ms");

// php.ini's settings are for programs that say nothing themselves
$command = latch_command('run', $store, '--ttl=2', 'r', '--', 'true');
$ini = ['-d', 'latch.keep_alive=1', '-d', 'latch.max_hold=1', '-d', 'latch.throw_on_lost=1', '-d', 'display_errors=1'];
check_same('exit 0', $program->let_go()->ending(), 'it ends well');
$command = latch_command('run', $store, '--ttl=2', 'r', '--', 'sh', '-c', 'echo running; exec cat');
array_splice($command, 1, 0, $ini);
$program = (new Program($command))->await("running\n");
prove_kept($server, 3, 'latch.max_hold');
check_same("exit 0: running\n|", $program->let_go()->all(), 'it ends well with settings of php.ini');
$command = latch_command('run', $store, '--ttl=1', '--no-keep-alive', 'r', '--', 'cat');
array_splice($command, 1, 0, $ini);
$program = new Program($command);
check_same('exit 76', $program->ending(), 'latch.keep_alive does not renew with --no-keep-alive');

// the server is away for a time: its lock is kept when it comes back soon enough
$program = latch_run_cat($store, '--ttl=6', 'r');
$server->restartWithData();
$left = $server->command('PTTL', 'r');
wait_until(fn () => $server->command('PTTL', 'r') > $left, 'it is renewed');
check_same("exit 0: running\n|", $program->let_go()->all(), 'after a restart');
check_same('nobody', holders($server), 'free then');

// where locks do not expire the options mean nothing
$directory = temporary_directory();
foreach ([['--keep-alive', '--ttl=0.1'], ['--no-keep-alive', '--ttl=0.1'], ['--keep-alive']] as $options) {
    $ending = latch_to_end('run', "--store=flock://$directory", ...$options, ...['r', '--', 'sleep', '0.5']);
    check_same('exit 0: |', $ending, 'flock: ' . implode(' ', $options));
}

// latch is killed: the command goes on, and the lock ends by itself
$program = latch_run_cat($store, '--ttl=2', 'r');
[$command] = children_of($program->pid);
check_same('signal 9', $program->kill(SIGKILL)->ending(), 'latch is killed');
wait_until(fn () => $server->lacks('r'), 'the lock has expired');
check(posix_kill($command, 0), 'the command lives');
$program->let_go();
echo "done\n";
--EXPECT--
done
