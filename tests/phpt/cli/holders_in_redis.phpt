--TEST--
latch status, list and release in Redis: who holds, by whom and since when, and an end to that
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
require __DIR__ . '/../../utils/phpt_terminal.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer(['requirepass' => 'SECRET']);
$store = "--store={$server->dsn()}";
$status = fn (string $resource = 'r', string ...$more) => latch_to_end('status', $store, ...[...$more, $resource]);
$list = fn (string ...$more) => latch_to_end('list', $store, ...$more);
$host = gethostname();
/** Times and numbers, which are not the same each time. */
$plain = fn (string $said) => preg_replace(
    ['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([^)]*\)/', '/ends in [\d.]+ s/', '/\d{16}/', '/\t\d{4}-\d\d-\d\dT\S+\t[\d.]+\t/'],
    ['THEN', 'ends in N s', 'FENCING', "\tTHEN\tN\t"],
    $said
);

check_same("exit 0: free\n|", $status(), 'never locked');
check_same('exit 0: |', $list(), 'nothing is held');
check_same("exit 0: free\n|", latch_to_end('release', '--force', $store, 'r'), 'nothing to be released');
check_same("exit 0: []\n|", $list('--format=json'), 'nothing is held, as JSON');

// a command, and who waits for it
$run = latch_run_cat($store, 'r');
$waiting = latch('run', $store, '--wait', 'r', '--', 'echo', 'next');
wait_until(fn () => $server->command('KEYS', 'latch:queue:*') !== [], 'somebody waits');
$line = "  $run->pid on $host (latch run sh), since THEN, ends in N s unless it is renewed, fencing token FENCING\n";
check_same("exit 75: held, exclusive, 1 waiting:\n$line|", $plain($status()), 'held');
check_same(
    "exit 0: exclusive\t$host\t$run->pid\tlatch run sh\tTHEN\tN\tFENCING\t1\tr\n|",
    $plain($list()),
    'listed'
);
$found = json_decode(substr($status('r', '--format=json'), strlen('exit 75: '), -1), true, 9, JSON_THROW_ON_ERROR);
check_same(['r', 'exclusive', 1, 1], [$found['name'], $found['mode'], $found['holderCount'], $found['waiters']], 'as JSON');
check_same([$run->pid, $host, 'latch run sh'], array_values(array_intersect_key($found['holders'][0], ['pid' => 0, 'host' => 0, 'script' => 0])), 'as JSON');
check_same([$found['holders'][0]['id']], array_column(json_decode(substr($list('--format=json'), strlen('exit 0: '), -1), true)[0]['holders'], 'id'), 'listed as JSON');

// the lock is taken away from it: not without a yes
$ended = latch_to_end('release', '--force', $store, 'r');
check_same("exit 64: \"r\" is held, exclusive, 1 waiting:\n$line|latch: there is no terminal to ask on; --yes releases the lock without asking\n", $plain($ended), 'no terminal');
$quoted = fn (string ...$arguments) => implode(' ', array_map(escapeshellarg(...), latch_command(...$arguments)));
$terminal = new Terminal();
foreach (['n', '', 'ye', 'yes no'] as $answer) {
    $terminal->type($quoted('release', '--force', $store, 'r') . "; echo code=\$? end''ed\n");
    $asked = $terminal->await('[y/N] ');
    check(str_contains($asked, "$run->pid on $host (latch run sh)"), "it says whom it asks about: $asked");
    $terminal->type("$answer\n");
    $said = $terminal->await('ended');
    check(str_contains($said, 'not released') && str_contains($said, 'code=75'), "answer '$answer': $said");
}
check($run->lives() && $waiting->out() === '', 'nothing has happened');
$terminal->type($quoted('release', '--force', $store, 'r') . "; echo code=\$? end''ed\n");
$terminal->await('[y/N] ');
$terminal->type("y\n");
$said = $terminal->await('ended');
$user = posix_getpwuid(posix_geteuid())['name'];
check(preg_match("/latch: $user( \\(by sudo of \\S+\\))? has taken the lock \"r\" away from $run->pid on " . preg_quote($host) . ' \(latch run sh\)/', $said) === 1, $said);
check(str_contains($said, 'code=0'), $said);
$terminal->hang_up();
check_same("exit 0: next\n|", $waiting->all(), 'the next one has it at once');
check_same('exit 76', $run->ending(), 'the victim notices, and ends its command');
check(str_contains($run->err(), 'it has another holder, or none any more'), $run->err());
check_same("exit 0: free\n|", $status(), 'free');

// readers, and peers that leave no notes
$readers = [latch_run_cat($store, '--shared', 'r'), latch_run_cat($store, '--shared', 'r')];
$server->command('ZADD', 'r', 9e15, base64_encode(random_bytes(32)));
$server->command('SET', 'theirs', 'owner');
$server->command('ZADD', "s\n", 9e15, base64_encode(random_bytes(32)));
$server->command('ZADD', 'scores', 9e15, 'player');
$said = $plain($status());
check(str_starts_with($said, "exit 75: held, shared:\n  unknown (not on Latch, or without a note), ends in N s unless it is renewed\n  "), $said);
check_same(4, substr_count($said, "\n"), $said);
check_same(2, substr_count($said, ' (latch run sh), since THEN, ends in N s unless it is renewed'), $said);
check_same("exit 75: held, exclusive:\n  unknown (not on Latch, or without a note), does not end by itself\n|", $status('theirs'), 'a string');
check_same(3, substr_count($list(), "\tr\n"), 'a line for each');
check(!str_contains($list(), 's\n'), 'no foreign locks');
check(preg_match('/^exclusive|shared\t-\t-\t-\t-\t[\d.]+\t-\t0\ts\\\\n$/m', $list('--all')) === 1, $list('--all'));
check(!str_contains($list('--all'), 'scores'), 'what is no lock');
$said = latch_to_end('release', '--force', '--yes', $store, 'r');
check_same(1, preg_match("/^exit 0: .*\\|latch: $user\\S* .*away from unknown.*, \\d+ on .*, \\d+ on /s", $said), $said);
foreach ($readers as $reader) {
    check_same('exit 76', $reader->ending(), 'both notice');
}
check_same("exit 0: free\n|", $status(), 'free');

// what others have written is no escape sequence
$server->command('ZADD', 'evil', 9e15, 'x');
$server->command('HSET', 'latch:holder:evil', 'x', "1 2 we\x1bb\xc2\x9b 3 /a\tb\\\xff");
$said = $status('evil') . $list();
check(!preg_match('/\x1b|\xc2\x9b|b\t\\\\/', $said) && str_contains($said, 'we?b\302\233'), $said);
check(is_array(json_decode(substr($list('--format=json'), strlen('exit 0: '), -1))), 'JSON all the same');

// other stores: nothing is done
$directory = temporary_directory();
$flock = latch_run_cat("--store=flock://$directory", 'job');
$said = latch_to_end('release', '--force', '--yes', "--store=flock://$directory", 'job');
[$command] = children_of($flock->pid);
check(preg_match("/^exit 69: \\|latch: the lock \"job\" cannot be taken away, it ends with the process that has it, as by: kill \d+ \d+; nothing was done\n$/", $said) === 1, $said);
check($flock->lives(), 'it goes on');
$found = json_decode(substr(latch_to_end('status', "--store=flock://$directory", '--format=json', 'job'), strlen('exit 75: '), -1), true);
$pids = [$flock->pid, $command];
sort($pids);
$told = array_column($found['holders'], 'pid');
sort($told);
check_same($pids, $told, 'flock as JSON');
check_same(1, count(json_decode(substr(latch_to_end('list', "--store=flock://$directory", '--format=json'), strlen('exit 0: '), -1), true)), 'flock listed as JSON');
$flock->let_go()->ending();
check_same("exit 0: free\n|", latch_to_end('release', '--force', '--yes', "--store=flock://$directory/missing", 'job'), 'missing');

// trouble; no password is shown
$all = $status('list') . latch_to_end('status', '--store=redis://wrong-SECRET@127.0.0.1:' . $server->port, 'r');
$server->stop();
foreach ([$status(), $list(), latch_to_end('release', '--force', '--yes', $store, 'r')] as $said) {
    check(str_starts_with($said, 'exit 69: |latch: ') && str_contains($said, 'cannot connect'), $said);
    $all .= $said;
}
check(!str_contains($all, 'SECRET'), "no password is shown: $all");
echo "done\n";
--EXPECT--
done
