--TEST--
latch doctor: of a table of locks it says whether it is there, its collation, what has expired and whose clock goes ahead; it creates none
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts many times here');
}
?>
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
pdo_pgsql
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\PdoStore;

/** With PDO in the doctor's process, which has no php.ini; settings come last first. */
function table_report(string $case, string $dsn, array $drivers = ['mysqlnd', 'pdo', 'pdo_mysql', 'pdo_pgsql', 'pdo_sqlite'], array $settings = []): DoctorReport
{
    $there = array_filter($drivers, fn (string $name) => is_file(PHP_EXTENSION_DIR . "/$name.so"));
    return new DoctorReport($case, [], [...array_map(fn (string $name) => "extension=$name", array_reverse($there)), ...$settings], ['LOCK_DSN' => $dsn]);
}

/* SQLite: neither a file nor a table is made. */
$file = temporary_directory() . '/locks.db';
foreach (["sqlite:$file", "sqlite:///$file"] as $dsn) {
    table_report('no file', $dsn)->has_no_others()->has('note', 'sqlite:', "$file does not exist yet: the first lock creates it");
}
check(!file_exists($file), 'no file is made');
$pdo = new PDO("sqlite:$file");
$tables = fn (): int => (int) $pdo->query('SELECT count(*) FROM sqlite_master')->fetchColumn();
$report = table_report('no table', "sqlite:$file")->has_no_others();
$report->has('note', 'sqlite:', 'has no table lock_keys yet: the first lock creates it');
check($report->has('ok', 'sqlite:', '(native) answers, SQLite ')['exists_ms'] > 0, 'asked');
check_same(0, $tables(), 'no table is made');
(new PdoStore($pdo))->createTable();
$pdo->exec("INSERT INTO lock_keys VALUES ('old', 'x', 5), ('older', 'x', 4), ('held', 'x', 99999999999)");
$report = table_report('a table', "sqlite:$file")->has_no_others();
check($report->has('ok', 'sqlite:', '(native) locks, SQLite ')['acquire_ms'] > 0, 'locked');
check_same([2, null], array_values(array_intersect_key(
    $report->has('ok', 'sqlite:', 'the table lock_keys has 2 expired rows; the server\'s clock is 0.0 s'),
    ['expired_rows' => 0, 'collation' => 0]
)), 'for programs');
check_same(1, (int) $pdo->query('SELECT count(*) FROM lock_keys WHERE key_expiration > 5')->fetchColumn(), 'nothing is left');

foreach (['pgsql' => Ground::postgresql(...), 'mysql' => Ground::mysql(...)] as $driver => $start) {
    $ground = $start();
    $server = $ground->server;
    $pdo = $server->pdo();
    $dsn = "{$server->pdoDsn()};user=" . $server::USER . ';password=' . $server::PASSWORD;
    $url = str_replace('+advisory', '', $server->url());
    foreach ([$dsn, $url] as $which) {
        $report = table_report("$ground->name: no table", $which)->has_no_others()->lacks($server::PASSWORD);
        check($report->has('ok', '', '(native) answers, ')['exists_ms'] > 0, "$ground->name: asked");
        $report->has('note', '', 'has no table lock_keys yet');
    }
    check(str_contains(outcome(fn () => $pdo->query('SELECT 1 FROM lock_keys')), 'PDOException'), "$ground->name: no table is made");
    (new PdoStore($pdo))->createTable();
    $pdo->exec("INSERT INTO lock_keys VALUES ('old', 'x', 5)");
    $report = table_report("$ground->name: a table", $url)->has_no_others()->lacks($server::PASSWORD);
    $found = $report->has('ok', '', 'the table lock_keys has 1 expired rows');
    check(abs($found['clock_ahead_s']) < 60, "$ground->name: the difference of the clocks");
    check_same($driver === 'mysql' ? 'utf8mb4_bin' : null, $found['collation'], "$ground->name: the collation");
    $report->has('ok', '', '(native) locks, ');
    if ($driver === 'mysql') {
        $pdo->exec('ALTER TABLE lock_keys MODIFY key_id VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL');
        table_report('a collation', $dsn)->has_no_others()
            ->has('note', 'mysql:', 'names that are the same by utf8mb4_general_ci', 'ALTER TABLE lock_keys MODIFY');
        table_report('a collation, and plain names', $dsn, settings: ['latch.lock_names=plain'])->has_no_others('warning')
            ->has('warning', 'mysql:', 'names that are the same by utf8mb4_general_ci', 'ALTER TABLE lock_keys MODIFY');
        $pdo->exec('ALTER TABLE lock_keys DROP PRIMARY KEY');
        table_report('no key', $dsn)->has_no_others('fault')->has('fault', 'mysql:', 'has no primary key: its locks exclude nobody', 'ADD PRIMARY KEY');
    }
    table_report("$ground->name: wrong password", str_replace($server::PASSWORD, 'wrong-9753', $dsn))->has_no_others('fault')
        ->lacks('wrong-9753', $server::PASSWORD)->has('fault', '', 'no lock can be acquired: ', 'correct user and password');
    $server->stop();
    unset($ground, $server, $pdo);
}
echo "done\n";
--EXPECT--
done
