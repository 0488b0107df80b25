--TEST--
latch run --slots=N with files and databases: N commands at a time, by N locks
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_slots.inc';

$directory = temporary_directory();
$store = "--store=flock://$directory";
$programs = [latch_run_cat($store, '--slots=2', 's'), latch_run_cat($store, '--slots=2', 's')];
check_same(2, slots_locked($directory, 3), 'two run');
check_same(1, flock_semaphore($directory, 3)->available(), "PHP's semaphore is the same");
$said = latch_to_end('run', $store, '--slots=2', 's', '--', 'echo', 'no');
$pids = array_column($programs, 'pid');
sort($pids);
check(preg_match("/^exit 75: \|latch: \"s\" has no free slot of 2: .*\b$pids[0] \([^)]*\).*, .*$pids[1] \([^)]*\).*\n$/D", $said) === 1, $said);
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0.1', '--slots=2', 's', '--', 'echo', 'no'), 'for a while');
check_same("exit 0: yes\n|", latch_to_end('run', $store, 's', '--', 'echo', 'yes'), 'a lock of that name is another thing');
check_same("exit 0: yes\n|", latch_to_end('run', $store, '--slots=3', 's', '--', 'echo', 'yes'), 'a third slot');
$waiting = latch('run', $store, '--wait', '--slots=2', 's', '--', 'echo', 'next');
check_same('exit 0', $programs[0]->let_go()->ending(), 'the first one');
check_same("exit 0: next\n|", $waiting->all(), 'the next one');
check_same(1, slots_locked($directory, 2), 'one is left');

/* Lost: its file is removed. */
array_map(unlink(...), glob("$directory/*.lock"));
check(str_starts_with($said = $programs[1]->all(), "exit 76: running\n|latch: the slot of \"s\" was lost: "), $said);

/* Killed, latch leaves the slot to its command, as it leaves a lock. */
$program = latch_run_cat($store, '--slots=1', 's');
$program->kill(SIGKILL)->ending();
check_same(1, slots_locked($directory, 1), 'its command has it');
$program->let_go();
wait_until(fn () => slots_locked($directory, 1) === 0, 'the command ends, and the slot is free');
$program = latch_run_cat($store, '--slots=1', 's');
check_same('exit 143', $program->kill(SIGTERM)->ending(), 'a signal');
check_same(0, slots_locked($directory, 1), 'and nothing is left');

$postgresql = Ground::postgresql();
$store = "--store={$postgresql->server->dsn()}";
$program = latch_run_cat($store, '--slots=1', 's');
$said = latch_to_end('run', $store, '--slots=1', 's', '--', 'echo', 'no');
check(preg_match('/^exit 75: \|latch: "s" has no free slot of 1: session \d+\n$/D', $said) === 1, $said);
check_same('exit 0', $program->let_go()->ending(), 'in PostgreSQL');
$postgresql->server->awaitHeld(0);
check_same('exit 3: |', latch_to_end('run', $store, '--slots=1', 's', '--', 'sh', '-c', 'exit 3'), "the command's exit code");
check_same('exit 69', explode(': |', $said = latch_to_end('run', '--store=postgresql+advisory://127.0.0.1:1/x', '--slots=1', 's', '--', 'true'))[0], $said);
echo "done\n";
--EXPECT--
done
