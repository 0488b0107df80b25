--TEST--
latch run, status, list and release on locks in a table
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

$file = temporary_directory() . '/locks.db';
$store = "--store=sqlite:$file";
$status = fn (string $resource = 'r') => latch_to_end('status', $store, $resource);
$list = fn (string ...$more) => latch_to_end('list', $store, ...$more);

check_same(["exit 0: free\n|", 'exit 0: |', "exit 0: free\n|"],
    [$status(), $list(), latch_to_end('release', '--force', '--yes', $store, 'r')], 'never locked');
check(!file_exists($file), 'no file is made');
check_same(["exit 0: free\n|", "exit 0: free\n|"], [
    latch_to_end('status', '--store=sqlite:///' . $file, 'r'),
    latch_to_end('status', "--store=sqlite:///$file?timeout=5", 'r'),
], 'the same as a URL');
check(!file_exists($file), 'nor then');

$pdo = new PDO("sqlite:$file");
check_same(["exit 0: free\n|", 'exit 0: |'], [$status(), $list()], 'no table');
check_same([], $pdo->query('SELECT * FROM sqlite_master')->fetchAll(), 'nor is one made');

// a command
$run = latch_run_cat($store, '--ttl=60', 'r');
$id = hash('sha256', 'r');
check_same([[$id]], $pdo->query('SELECT key_id FROM lock_keys')->fetchAll(PDO::FETCH_NUM), 'a row');
check_same(1, preg_match('~^exit 75: held, exclusive:\n  unknown \(not on Latch, or without a note\), ends in \d+\.\d s unless it is renewed\n\|$~D', $status()), $status());
check_same(1, preg_match("~^exit 0: exclusive\t-\t-\t-\t-\t\d+\.\d{3}\t-\t0\tsha256:$id\n\\|$~D", $list()), $list());
check_same(1, preg_match('~^exit 75: \|~', latch_to_end('run', $store, 'r', '--', 'echo', 'ran')), 'excludes a command');
$told = json_decode(substr($list('--format=json'), strlen('exit 0: '), -1), true, 9, JSON_THROW_ON_ERROR);
check_same([[$id, true, 'exclusive', 1]], array_map(fn ($lock) => [$lock['name'], $lock['hashed'], $lock['mode'], $lock['holderCount']], $told), 'as JSON');
check_same('exit 0', $run->let_go()->ending(), 'ended');
check_same("exit 0: free\n|", $status(), 'released');

// a row of another program's, by its name, and one that has expired
$now = time();
$pdo->exec("INSERT INTO lock_keys VALUES ('import', 'theirs', $now + 100), ('$id', 'theirs', $now + 100), ('old', 'theirs', $now - 1)");
check_same(1, preg_match("~^exit 0: exclusive(\t-){4}\t[\d.]+\t-\t0\timport\nexclusive(\t-){4}\t[\d.]+\t-\t0\tsha256:$id\n\\|$~D", $list()), $list());
check(str_contains(latch_to_end('list', '--all', $store), '--all'), '--all is for Redis');

// taken away
check_same(1, preg_match('~^exit 64: .*there is no terminal~s', latch_to_end('release', '--force', $store, 'r')), 'asks');
$ending = latch_to_end('release', '--force', '--yes', $store, 'r');
check_same(1, preg_match('~^exit 0: "r" is held, exclusive:\n  unknown .*\n\|latch: .* has taken the lock "r" away from unknown~s', $ending), $ending);
check_same(["exit 0: free\n|", "exit 0: free\n|"], [$status(), latch_to_end('release', '--force', '--yes', $store, 'r')], 'gone');
check_same(2, (int) $pdo->query('SELECT count(*) FROM lock_keys')->fetchColumn(), 'the others stay');
?>
DONE
--EXPECT--
DONE
