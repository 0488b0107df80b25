--TEST--
PostgreSqlStore on a PDO object: signal handlers run while a lock is waited for, may throw, and may use the very store
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip the same code is run by other tests of these stores, and it takes long there');
}
?>
--EXTENSIONS--
pdo
pdo_pgsql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\PostgreSqlStore;

pcntl_async_signals(true);
$ground = Ground::postgresql();
$signaller = signaller($ground->server); // before there is a PDO, which its end would hang up
$pdo = $ground->server->pdo();
prove_signals($ground, $signaller, fn () => new PostgreSqlStore($pdo), 'PDO');
echo "done\n";
--EXPECT--
done
