--TEST--
latch run in Redis: it excludes, waits and shares; a signal leaves nothing locked; no password is shown
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

$server = new RedisServer(['requirepass' => 'SECRET']);
$store = "--store={$server->dsn()}";
$lock = redis_lock($server);

$program = latch_run_cat($store, 'r');
check_same('a writer', holders($server), 'the lock is held while the command runs');
check(!$lock->acquire(), 'PHP is excluded');
$said = check_names_holder($program->pid, 'r', latch_to_end('run', $store, 'r', '--', 'echo', 'no'), 'so is latch');
check(preg_match('/^\d+ on ' . preg_quote(gethostname(), '/') . ' \(latch run sh\), since [\d-]+ [\d:]+ \(\d+ s\)$/D', $said) === 1, "who it is: $said");
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0.1', 'r', '--', 'echo', 'no'), 'for a while');
check_same("exit 0: yes\n|", latch_to_end('run', $store, 'other', '--', 'echo', 'yes'), 'another resource');
check_same("exit 0: yes\n|", latch_to_end('run', "$store?prefix=shop:", 'r', '--', 'echo', 'yes'), 'another prefix');

/** Returns when somebody stands in the queue. */
function await_queue(RedisServer $server): void
{
    wait_until(fn () => $server->command('KEYS', 'latch:queue:*') !== [], 'somebody waits');
}

$waiting = latch('run', $store, '--wait', 'r', '--', 'echo', 'next');
await_queue($server);
check_same('', $waiting->out(), 'not yet');
check_same('exit 0', $program->let_go()->ending(), 'the first one');
check_same("exit 0: next\n|", $waiting->all(), 'the next one');
check_same('nobody', holders($server), 'free at the end');

$readers = [latch_run_cat($store, '--shared', 'r'), latch_run_cat($store, '--shared', 'r')];
check_same('2 readers', holders($server), 'shared');
check_same('exit 75: |', latch_to_end('run', $store, '-q', 'r', '--', 'echo', 'no'), 'a writer beside readers');
foreach ($readers as $reader) {
    check_same('exit 0', $reader->let_go()->ending(), 'a reader');
}

// a command that cannot be executed, whose process has the lock's copy when it ends
check_same("exit 127: |latch: the command \"/nowhere\" was not found\n", latch_to_end('run', $store, 'r', '--', '/nowhere'), 'not found');
check_same('nobody', holders($server), 'free then');

// no connection takes the place of a standard stream that is closed
foreach (['>&-', '2>&-', '>&- 2>&-', '<&- >&- 2>&-'] as $how) {
    $program = new Program(['sh', '-c', "exec \"\$@\" $how", 'sh', ...latch_command('run', $store, 'r', '--', 'sleep', '1000')]);
    wait_until(fn () => children_of($program->pid) !== [] || !$program->lives(), 'the command runs');
    foreach ([0, 1, 2] as $number) {
        $place = (string) readlink("/proc/$program->pid/fd/$number");
        check(preg_match('/^(socket|anon_inode):/', $place) === 0, "$how: $number is $place");
    }
    check_same('exit 143: |', $program->kill(SIGTERM)->all(), "$how: it ends");
}

// a signal, while it waits and at any moment between start and end
$lock->acquire();
$waiting = latch('run', $store, '--wait', 'r', '--', 'echo', 'no');
await_queue($server);
check_same('exit 143: |', $waiting->kill(SIGTERM)->all(), 'SIGTERM while waiting');
$lock->release();
check_same('nobody', holders($server), 'nothing was taken');
for ($attempt = 0; $attempt < 30; $attempt++) {
    $program = latch('run', $store, 'r', '--', 'sh', '-c', 'echo running; exec cat');
    usleep($attempt * 2000);
    $signal = $attempt % 2 === 0 ? SIGINT : SIGTERM;
    $ending = $program->kill($signal)->ending();
    check(in_array($ending, ["signal $signal", 'exit 143'], true), "$ending in attempt $attempt");
    check_same('nobody', holders($server), "free after attempt $attempt");
}

// by the environment; with a wrong password; with what the server does not let it do
$environment = fn (#[SensitiveParameter] string $dsn, string ...$command) => (new Program(
    latch_command('run', 'r', '--', ...$command),
    [],
    ['LATCH_STORE' => $dsn, 'PATH' => '/usr/bin:/bin']
))->let_go()->all();
check_same("exit 0: yes\n|", $environment($server->dsn(), 'echo', 'yes'), 'by the environment');
$said = $environment($server->dsn('', 'TOPSECRET@'), 'echo', 'no');
check(str_starts_with($said, 'exit 69: |latch: ') && str_contains($said, 'WRONGPASS'), $said);
$all = $said . $environment($server->dsn('?nonsense=SECRET'), 'echo', 'no');
$server->stop();
$said = $environment($server->dsn(), 'echo', 'no');
check(str_starts_with($said, 'exit 69: |latch: ') && str_contains($said, 'cannot connect'), $said);
check(!str_contains($all . $said, 'SECRET'), "no password is shown: $all$said");
echo "done\n";
--EXPECT--
done
