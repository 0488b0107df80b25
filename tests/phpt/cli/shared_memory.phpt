--TEST--
latch run, status, list and release on locks in shared memory
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

$file = temporary_directory() . '/the locks';
$store = '--store=shm://' . str_replace(' ', '%20', $file) . '?capacity=100';
$status = fn (string ...$more) => latch_to_end('status', $store, ...[...$more, 'r']);
$list = fn (string ...$more) => latch_to_end('list', $store, ...$more);
$host = gethostname();
/** Times and numbers, which are not the same each time. */
$plain = fn (string $said) => preg_replace(
    ['/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([^)]*\)/', '/\d{19}/', '/\t\d{4}-\d\d-\d\dT\S+\t/'],
    ['THEN', 'FENCING', "\tTHEN\t"],
    $said
);

check_same(["exit 0: free\n|", 'exit 0: |', "exit 0: []\n|", "exit 0: free\n|"],
    [$status(), $list(), $list('--format=json'), latch_to_end('release', '--force', '--yes', $store, 'r')], 'never locked');
check(!file_exists($file), 'no file is made');

// a command, one that waits, and one that does not
$run = latch_run_cat($store, 'r');
$line = "  $run->pid on $host (latch run sh), since THEN, ends with its process, fencing token FENCING\n";
check_same("exit 75: |latch: \"r\" is locked by $run->pid on $host (latch run sh), since THEN\n", $plain(latch_to_end('run', $store, 'r', '--', 'echo', 'ran')), 'refused');
$waiting = latch('run', $store, '--wait', 'r', '--', 'echo', 'next');
wait_until(fn () => str_contains($status(), '1 waiting'), 'somebody waits');
check_same("exit 75: held, exclusive, 1 waiting:\n$line|", $plain($status()), 'held');
check_same("exit 0: exclusive\t$host\t$run->pid\tlatch run sh\tTHEN\t-\tFENCING\t1\tr\n|", $plain($list()), 'listed');
$found = json_decode(substr($status('--format=json'), strlen('exit 75: '), -1), true, 9, JSON_THROW_ON_ERROR);
check_same([$run->pid, $host, null], array_map(fn (string $name) => $found['holders'][0][$name], ['pid', 'host', 'remaining']), 'as JSON');
check(str_contains($list('--all'), 'Redis alone'), '--all is for Redis');

// taken away: the command is ended, the waiter has it
check_same("exit 64: \"r\" is held, exclusive, 1 waiting:\n$line|latch: there is no terminal to ask on; --yes releases the lock without asking\n",
    $plain(latch_to_end('release', '--force', $store, 'r')), 'asks');
$ended = $plain(latch_to_end('release', '--force', '--yes', $store, 'r'));
check(str_contains($ended, "has taken the lock \"r\" away from $run->pid on $host (latch run sh)"), $ended);
check_same("exit 0: next\n|", $waiting->all(), 'the next one has it at once');
check_same('exit 76', $run->ending(), 'the victim ends its command');
check_same("exit 0: free\n|", $status(), 'free');

// readers, slots, and a command that is killed with its latch
$readers = [latch_run_cat($store, '--shared', 'r'), latch_run_cat($store, '--shared', 'r')];
check(str_starts_with($status(), "exit 75: held, shared:\n") && substr_count($status(), "\n") === 3, 'shared');
check(str_starts_with(latch_to_end('run', $store, 'r', '--', 'true'), 'exit 75: '), 'not beside readers');
array_map(fn ($reader) => check_same('exit 0', $reader->let_go()->ending(), 'a reader'), $readers);
$slots = [latch_run_cat($store, '--slots=2', 's'), latch_run_cat($store, '--slots=2', 's')];
check(str_contains(latch_to_end('run', $store, '--slots=2', 's', '--', 'true'), 'has no free slot of 2'), 'no third one');
array_map(fn ($slot) => check_same('exit 0', $slot->let_go()->ending(), 'a slot'), $slots);
$run = latch_run_cat($store, 'r');
posix_kill($run->pid, SIGKILL);
check_same("exit 0: ran\n|", latch_to_end('run', $store, '--wait=30', 'r', '--', 'echo', 'ran'), 'free when latch is killed');
$run->let_go();

// a removed file
$run = latch_run_cat($store, 'r');
unlink($file);
check_same('exit 76', $run->ending(), 'its lock is lost with the file');
check_same("exit 0: free\n|", $status(), 'free');

// wrong ones
$unusable = 'exit 64: |latch: the store is not usable: ';
check_same("{$unusable}the capacity of shared memory must be a number of locks from 1 to 16777216\n", latch_to_end('run', "--store=shm://$file?capacity=0", 'r', '--', 'true'), 'capacity');
check(str_starts_with(latch_to_end('run', '--store=shm://host/x', 'r', '--', 'true'), "{$unusable}a DSN of shared memory is "), 'a host');
check_same("exit 69: |latch: the file \"/none/x\" cannot be opened: No such file or directory; its directory is missing\n", latch_to_end('run', '--store=shm:///none/x', 'r', '--', 'true'), 'a directory');
check(str_contains(latch_to_end('run', '--store=shm:x', 'r', '--', 'true'), 'did you mean "shm'), 'a form');
echo "done\n";
--EXPECT--
done
