--TEST--
latch run: one command at a time, refused or waiting, by number of seconds or for ever; readers side by side
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = "--store=flock://$directory";

$first = latch_run_cat($store, 'job');
check(!is_free($directory, 'job'), 'the lock is held while the command runs');
check_names_holder($first->pid, 'job', latch_to_end('run', $store, 'job', '--', 'echo', 'no'), 'a second one');
check_names_holder($first->pid, 'job', latch_to_end('run', $store, '--wait=0.1', '--shared', 'job', '--', 'echo', 'no'), 'a reader');
check_same('exit 75: |', latch_to_end('run', $store, '--quiet', 'job', '--', 'echo', 'no'), 'quietly');
check_same('exit 75: |', latch_to_end('run', $store, '-q', 'job', '--', 'echo', 'no'), 'quietly');
check_same('exit 3: |', latch_to_end('run', $store, '-q', '--conflict-exit-code=3', 'job', '--', 'echo', 'no'), 'a code of one\'s own');
check_same('exit 0: |', latch_to_end('run', $store, '-q', '--conflict-exit-code', '0', 'job', '--', 'echo', 'no'), 'the code 0');
check_same('exit 255: |', latch_to_end('run', $store, '-q', '--conflict-exit-code=255', 'job', '--', 'echo', 'no'), 'the code 255');
// values behind "=" and behind a blank; letters as flock(1) has them
foreach ([
    ['-q', '-E', '3'], ['-qE3'], ['-q', '-E=3'], ['-nqE', '3'], ['-qE', '3', '-n'], ['-q', '-E3', '-w', '0.1'], ['-q', '-E3', '-w0.1'],
    ['-q', '-E3', '-w=0.1'], ['-qE3', '--wait', '0.1'], ['-qE3', '--wait', '0'], ['-qE3', '--wait', '.1', '--shared'],
] as $options) {
    $ending = latch_to_end('run', $store, ...[...$options, 'job', '--', 'echo', 'no']);
    check_same('exit 3: |', $ending, implode(' ', $options));
}
check_same("exit 0: yes\n|", latch_to_end('run', $store, '--wait', '5', 'other', '--', 'echo', 'yes'), '--wait 5');
check_same("exit 0: yes\n|", latch_to_end('run', $store, '--wait', '5', '--', '-other', '--', 'echo', 'yes'), '--wait 5 --');
check_same("exit 0: yes\n|", latch_to_end('run', $store, '--wait', '--', '5', '--', 'echo', 'yes'), 'a number as resource');
check_same("exit 0: yes\n|", latch_to_end('run', $store, '--wait', '2026-report', '--', 'echo', 'yes'), 'no number');
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--shared', 'job', '--', 'echo', 'no'), 'a reader');
check_same("exit 0: yes\n|", latch_to_end('run', $store, 'other', '--', 'echo', 'yes'), 'another resource');

$since = hrtime(true);
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0.3', 'job', '--', 'echo', 'no'), '--wait=0.3');
check(hrtime(true) - $since >= 0.3e9, 'it has waited 0.3 s');
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0', 'job', '--', 'echo', 'no'), '--wait=0');

$second = latch('run', $store, '--wait', 'job', '--', 'echo', 'second');
$third = latch('run', $store, '--wait=1000000', 'job', '--', 'echo', 'third');
wait_until_it_waits($second->pid);
wait_until_it_waits($third->pid);
check_same('', $second->out() . $third->out(), 'nothing runs meanwhile');
check_same('exit 0', $first->let_go()->ending(), 'the first one');
check_same("exit 0: second\n|", $second->all(), 'the second one');
check_same("exit 0: third\n|", $third->all(), 'the third one');
check(is_free($directory, 'job'), 'free at the end');

$readers = [latch_run_cat($store, '--shared', 'job'), latch_run_cat($store, 'job', '--shared')];
check_same('exit 75: |', latch_to_end('run', $store, '-q', 'job', '--', 'echo', 'no'), 'a writer beside readers');
check(!is_free($directory, 'job') && is_free($directory, 'job', LOCK_SH), 'shared locks');
foreach ($readers as $reader) {
    check_same('exit 0', $reader->let_go()->ending(), 'a reader');
}

// with PHP programs
$lock = new Lock(new Key('job'), new FlockStore($directory));
$lock->acquire();
check_names_holder(getmypid(), 'job', latch_to_end('run', $store, 'job', '--', 'echo', 'no'), 'what PHP holds');
$lock->release();
$last = latch_run_cat($store, 'job');
check(!$lock->acquire(), 'what latch holds');
$last->let_go()->ending();
check($lock->acquire(), 'and held');
$lock->release();
echo "done\n";
--EXPECT--
done
