--TEST--
latch run --slots=N: N commands at a time, in turn; the slot is kept, given back and lost as a lock is
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer(['requirepass' => 'SECRET']);
$store = "--store={$server->dsn()}";
$host = gethostname();

$programs = [latch_run_cat($store, '--slots=2', 's'), latch_run_cat($store, '--slots=2', 's')];
check_same(2, permits_held($server), 'two run');
check_same(1, redis_semaphore($server, 3)->available(), "PHP's semaphore is the same");
$said = latch_to_end('run', $store, '--slots=2', 's', '--', 'echo', 'no');
$holder = fn (int $at) => preg_quote("{$programs[$at]->pid} on $host (latch run sh)", '/') . ', since [\d-]+ [\d:]+ \(\d+ s\)';
check(preg_match("/^exit 75: \|latch: \"s\" has no free slot of 2: ({$holder(0)}; {$holder(1)}|{$holder(1)}; {$holder(0)})\n$/D", $said) === 1, $said);
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0.1', '--slots=2', 's', '--', 'echo', 'no'), 'for a while');
check_same('exit 7: |', latch_to_end('run', $store, '-qE', '7', '--slots', '1', 's', '--', 'echo', 'no'), 'another exit code, another number');
check_same("exit 0: yes\n|", latch_to_end('run', $store, 's', '--', 'echo', 'yes'), 'a lock of that name is another thing');
check_same("exit 0: yes\n|", latch_to_end('run', $store, '--slots=3', 's', '--', 'echo', 'yes'), 'a third slot');

$waiting = latch('run', $store, '--wait', '--slots=2', 's', '--', 'echo', 'next');
wait_until(fn () => permit_queue($server) === 1, 'it waits');
/* Who has them. */
$plain = fn (string $said) => preg_replace(['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([^)]*\)/', '/ends in [\d.]+ s/'], ['THEN', 'ends in N s'], $said);
$lines = array_map(fn (Program $program) => "  $program->pid on $host (latch run sh), since THEN, ends in N s unless it is renewed, weight 1 of 2\n", $programs);
$said = $plain(latch_to_end('status', $store, 's'));
check(in_array($said, ["exit 75: semaphore, 2 permits in use, 1 waiting:\n" . implode('', $lines) . '|',
    "exit 75: semaphore, 2 permits in use, 1 waiting:\n" . implode('', array_reverse($lines)) . '|'], true), $said);
$found = json_decode(substr(latch_to_end('status', $store, '--format=json', 's'), strlen('exit 75: '), -1), true, 9, JSON_THROW_ON_ERROR);
check_same([null, 2, 2, 1, [1, 1]], [$found['mode'], $found['semaphore']['used'], $found['semaphore']['holderCount'], $found['semaphore']['waiters'],
    array_column($found['semaphore']['holders'], 'weight')], 'as JSON');
$lock = latch_run_cat($store, 's');
$said = $plain(latch_to_end('status', $store, 's'));
check(str_starts_with($said, "exit 75: held, exclusive:\n  $lock->pid on ") && str_contains($said, "\nsemaphore, 2 permits in use, 1 waiting:\n"), $said);
check_same('exit 0', $lock->let_go()->ending(), 'the lock of that name');
check_same("exit 0: free\n|", latch_to_end('status', $store, 'other'), 'another name');

check_same('exit 0', $programs[0]->let_go()->ending(), 'the first one');
check_same("exit 0: next\n|", $waiting->all(), 'the next one');
check_same(1, permits_held($server), 'one is left');

/* Lost: it is taken out of the server. */
$programs[0] = latch_run_cat($store, '--slots=2', '--ttl=1', 's');
$server->command('DEL', '{s}:weight', '{s}:time');
check(str_starts_with($said = $programs[0]->all(), "exit 76: running\n|latch: the slot of \"s\" was lost: "), $said);
$programs[1]->kill(SIGTERM)->ending();
check_same(0, permits_held($server), 'nothing is left');

/* Signals and failures. */
$program = latch_run_cat($store, '--slots=1', 's');
check_same('exit 143', $program->kill(SIGTERM)->ending(), 'a signal');
check_same(0, permits_held($server), 'and nothing is left');
check_same('exit 3: |', latch_to_end('run', $store, '--slots=1', 's', '--', 'sh', '-c', 'exit 3'), "the command's exit code");
check_same('exit 69', explode(': |', $said = latch_to_end('run', '--store=redis://127.0.0.1:1', '--slots=1', 's', '--', 'true'))[0], $said);
check_same('exit 64', explode(': |', $said = latch_to_end('run', '--store=redis://h?unknown=1', '--slots=1', 's', '--', 'true'))[0], $said);
check(!str_contains($said, 'Argument #1'), $said);
echo "done\n";
--EXPECT--
done
