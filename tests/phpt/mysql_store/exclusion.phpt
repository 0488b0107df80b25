--TEST--
MysqlStore: locks exclude within a session and between sessions, however the server is named
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\MysqlStore;

$ground = Ground::mysql();
$server = $ground->server;
$login = ['db_username' => $server::USER, 'db_password' => $server::PASSWORD];
foreach ([
    'PDO form' => fn () => new MysqlStore($server->dsn()),
    'socket' => fn () => new MysqlStore($server->socketDsn()),
    'URL' => fn () => new MysqlStore($server->url()),
    'options' => fn () => new MysqlStore($server->pdoDsn(), $login),
    'attributes' => fn () => new MysqlStore($server->pdoDsn(), $login + ['db_connection_options' => [2 => 3, 12 => true]]),
    'own options' => fn () => new MysqlStore($server->pdoDsn(), $login + ['read_timeout' => 2.5, 'persistent_id' => 'x']),
] as $case => $make) {
    prove_exclusion($ground, $make, $case);
}
/* Of the same settings there is one session: the first, the third and the fourth ask for the same. */
$server->awaitSessions(4); // once those of others are gone
echo "done\n";
--EXPECT--
done
