--TEST--
latch run: when the lock is lost the command is ended, by a signal first, by SIGKILL after a time of grace, with exit code 76
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
$directory = temporary_directory();
$redis = ["--store={$server->dsn()}", '--ttl=2'];

/** Tells each signal, and ends with its input, with exit code 5. */
$tells = ['bash', '-c', 'for name in TERM USR1 INT; do trap "echo got $name" "$name"; done
    echo running; until read -r -t 0.01 || (($? < 128)); do :; done; echo ends; exit 5'];

/** Starts that, or another command, under a lock that is lost then. */
function lose(array $options, array $command = []): Program
{
    $program = latch('run', ...$options, ...['r', '--', ...$command ?: $GLOBALS['tells']]);
    $program->await("running\n");
    $GLOBALS['server']->command('DEL', 'r');
    return $program;
}

$gone = 'it has another holder, or none any more';
$lost = "latch: the lock \"r\" was lost: $gone; the command is to end\n";
$dies = ['sh', '-c', 'echo running; exec cat'];

// the key was deleted
check_same("exit 76: running\n|$lost", lose($redis, $dies)->all(), 'a command that SIGTERM ends');
check_same(
    "exit 76: running\nends well\n|$lost",
    lose($redis, ['bash', '-c', 'trap "echo ends well; exit 0" TERM; echo running; while :; do read -r -t 1; done'])->all(),
    'one that ends by itself then'
);
check_same("exit 3: running\n|$lost", lose([...$redis, '--lost-exit-code=3'], $dies)->all(), 'a code of one\'s own');
check_same("exit 0: running\n|$lost", lose([...$redis, '-q', '--lost-exit-code=0'], $dies)->all(), 'the code 0');
check_same(
    "exit 76: running\ngot TERM\n|{$lost}latch: the command still runs after 1 s and is killed\n",
    lose([...$redis, '--lost-grace=1'])->all(),
    'one that does not end'
);
$program = lose([...$redis, '--lost-grace=1000'])->await("got TERM\n");
$program->kill(SIGUSR1)->await("got USR1\n");
check_same("exit 76: running\ngot TERM\ngot USR1\nends\n|$lost", $program->let_go()->all(), 'signals are passed on during the grace');
foreach (['USR1' => 'USR1', 'SIGINT' => 'INT', (string) SIGUSR1 => 'USR1'] as $signal => $name) {
    $program = lose([...$redis, "--lost-signal=$signal", '--lost-grace=1000'])->await("got $name\n");
    check_same("exit 76: running\ngot $name\nends\n|$lost", $program->let_go()->all(), "--lost-signal=$signal");
}
check_same("exit 76: running\n|$lost", lose([...$redis, '--lost-signal=KILL'])->all(), '--lost-signal=KILL');

// nobody is ended
$program = lose([...$redis, '--lost-signal=none', '--lost-grace=0']);
wait_until(fn () => $program->err() !== '', 'it is told');
check_same(
    "exit 76: running\nends\n|latch: the lock \"r\" was lost: $gone; the command goes on\n",
    $program->let_go()->all(),
    '--lost-signal=none'
);

// somebody else has the lock by now, and keeps it
$program = latch('run', ...[...$redis, '--lost-grace=1000', 'r', '--', ...$tells])->await("running\n");
$other = redis_lock($server);
$server->command('DEL', 'r');
check($other->acquire(), 'it is free for others');
check_same('exit 76', $program->await("got TERM\n")->let_go()->ending(), 'lost to somebody else');
check($other->isAcquired(), 'who has it still');
$other->release();

// a stopped command cannot end before it is continued
$program = latch('run', ...[...$redis, 'r', '--', ...$dies])->await("running\n");
[$command] = children_of($program->pid);
posix_kill($command, SIGSTOP);
$server->command('DEL', 'r');
check_same("exit 76: running\n|$lost", $program->all(), 'a stopped command');

// latch itself was stopped until the lock had expired
$program = latch('run', ...[...$redis, '--lost-grace=1000', 'r', '--', ...$tells])->await("running\n");
$program->kill(SIGSTOP);
wait_until(fn () => $server->lacks('r'), 'it expires');
$program->kill(SIGCONT)->await("got TERM\n");
check_same(
    "exit 76: running\ngot TERM\nends\n|latch: the lock \"r\" was lost: its time is over; the command is to end\n",
    $program->let_go()->all(),
    'latch was stopped'
);

// both latch and the command's end were late
$program = latch('run', ...[...$redis, 'r', '--', 'sh', '-c', 'echo running; cat; exit 5'])->await("running\n");
[$command] = children_of($program->pid);
$program->kill(SIGSTOP)->let_go();
wait_until(fn () => $server->lacks('r'), 'it expires');
wait_until(fn () => str_contains(file_get_contents("/proc/$command/stat"), ') Z '), 'the command ends');
check_same(
    "exit 76: running\n|latch: the lock \"r\" was lost before the command ended: its time is over\n",
    $program->kill(SIGCONT)->all(),
    'the end is seen after the loss'
);

// not renewed; the TTL is what the command has
$program = latch('run', ...[...$redis, '--no-keep-alive', '--lost-grace=1000', 'r', '--', ...$tells])->await("got TERM\n");
wait_until(fn () => holders($server) === 'nobody', '--no-keep-alive: free'); // the server counts from later
check_same('exit 76', $program->let_go()->ending(), '--no-keep-alive');
check_same("exit 0: yes\n|", latch_to_end('run', ...[...$redis, '--no-keep-alive', 'r', '--', 'echo', 'yes']), 'in time');

// --max-hold: the command is ended under its lock, in any store
foreach ([...$redis, "--store=flock://$directory"] as $store) {
    if ($store === '--ttl=2') {
        continue;
    }
    $program = latch('run', $store, '--max-hold=2', '--lost-grace=1000', 'r', '--', ...$tells)->await("got TERM\n");
    check_same('exit 75', latch('run', $store, '-q', 'r', '--', 'true')->ending(), "$store, --max-hold: still locked");
    $over = "latch: the command has had the lock \"r\" for 2 s; the command is to end\n";
    check_same("exit 76: running\ngot TERM\nends\n|$over", $program->let_go()->all(), "$store, --max-hold");
    $killed = latch('run', $store, '--max-hold=0.1', '--lost-grace=0.1', 'r', '--', 'sh', '-c', 'trap "" TERM; exec cat');
    check_same('exit 76', $killed->ending(), "$store, --max-hold: killed");
    check_same("exit 0: yes\n|", latch_to_end('run', $store, '--max-hold=1000', 'r', '--', 'echo', 'yes'), "$store, --max-hold: in time");
}

// the lock file was removed
foreach (["flock://$directory", "flock+remove://$directory"] as $dsn) {
    $program = latch('run', "--store=$dsn", 'r', '--', ...$dies)->await("running\n");
    unlink(lock_file($directory, 'r'));
    $removed = str_replace($gone, 'what held it in its store has ended', $lost);
    check_same("exit 76: running\n|$removed", $program->all(), "$dsn: removed");
    check_same("exit 0: yes\n|", latch_to_end('run', "--store=$dsn", 'r', '--', 'echo', 'yes'), "$dsn: and again");
}

// the server is gone, and then one without data is there
$program = latch('run', ...[...$redis, 'r', '--', ...$dies])->await("running\n");
$server->stop();
$away = "it could not be renewed in time: cannot connect to Redis at 127.0.0.1:$server->port: Connection refused";
check_same("exit 76: running\n|" . str_replace($gone, $away, $lost), $program->all(), 'the server is gone');

// and latch was stopped meanwhile: whoever finds the loss first, the reason is the same
$server->start();
$program = latch('run', ...[...$redis, '--lost-grace=1000', 'r', '--', ...$tells])->await("running\n");
$server->stop();
usleep(1000000); // a third of the TTL later at most it cannot be renewed,
$program->kill(SIGSTOP);
usleep(1200000); // and its time is over
$program->kill(SIGCONT)->await("got TERM\n");
check_same(
    "exit 76: running\ngot TERM\nends\n|" . str_replace($gone, $away, $lost),
    $program->let_go()->all(),
    'the server is gone, and latch was stopped'
);

// it is gone when the command ends, which is no loss yet
$server->start();
$program = latch('run', $redis[0], 'r', '--', 'sh', '-c', 'echo running; cat; exit 5')->await("running\n");
$server->stop();
$ending = $program->let_go()->all();
check(preg_match('/^exit 5: running\n\|latch: [^\n]+ cannot connect [^\n]+\n$/D', $ending) === 1, $ending);
$server->start();
$program = latch('run', ...[$redis[0], '--ttl=10', 'r', '--', ...$dies])->await("running\n");
$server->restart();
check_same("exit 76: running\n|$lost", $program->all(), 'the server has lost its data');
check_same("exit 0: yes\n|", latch_to_end('run', ...[...$redis, 'r', '--', 'echo', 'yes']), 'and again');
echo "done\n";
--EXPECT--
done
