--TEST--
PostgreSqlStore on a PDO object: signal handlers run while a lock is waited for, may throw, and may use the very store
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
