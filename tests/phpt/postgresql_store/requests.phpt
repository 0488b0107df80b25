--TEST--
PostgreSqlStore: what a request of an FPM worker leaves locked does not survive it in the session, which does
--SKIPIF--
<?php
if (getenv('LATCH_TEST_NO_FPM') === '1') {
    die('skip LATCH_TEST_NO_FPM=1: this PHP has no FPM');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';
require __DIR__ . '/../../utils/phpt_server.inc';

$ground = Ground::postgresql();
$worker = new Fpm();
try {
    $dsn = var_export($ground->server->dsn(), true);
    prove_session_goes_back_clean($worker, $ground, "\$store = new Latch\\Store\\PostgreSqlStore($dsn);", 'DSN');
} finally {
    $worker->stop();
}
echo "done\n";
--EXPECT--
done
