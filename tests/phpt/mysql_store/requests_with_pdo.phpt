--TEST--
MysqlStore on a persistent PDO object: what a request leaves locked does not survive it in the session, which does
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
--SKIPIF--
<?php
if (getenv('LATCH_TEST_NO_FPM') === '1') {
    die('skip LATCH_TEST_NO_FPM=1: this PHP has no FPM');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';
require __DIR__ . '/../../utils/phpt_server.inc';

$ground = Ground::mysql();
$server = $ground->server;
Server::$extensions = ['mysqlnd', 'pdo', 'pdo_mysql'];
$worker = new Fpm();
try {
    $login = var_export($server->pdoDsn(), true) . ', ' . var_export($server::USER, true) . ', ' . var_export($server::PASSWORD, true);
    prove_session_goes_back_clean($worker, $ground, "
        \$pdo = new PDO($login, [PDO::ATTR_PERSISTENT => true]);
        \$store = new Latch\\Store\\MysqlStore(\$pdo);", 'PDO');
} finally {
    $worker->stop();
}
echo "done\n";
--EXPECT--
done
