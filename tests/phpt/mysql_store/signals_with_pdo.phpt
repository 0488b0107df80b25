--TEST--
MysqlStore on a PDO object: signal handlers run while a lock is waited for, may throw, and may use the very store
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\MysqlStore;

pcntl_async_signals(true);
$ground = Ground::mysql();
$signaller = signaller($ground->server); // before there is a PDO, which its end would hang up
$pdo = $ground->server->pdo();
prove_signals($ground, $signaller, fn () => new MysqlStore($pdo), 'PDO');
echo "done\n";
--EXPECT--
done
