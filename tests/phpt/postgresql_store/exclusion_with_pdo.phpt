--TEST--
PostgreSqlStore on a PDO object: locks exclude within its session and between sessions
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

$ground = Ground::postgresql();
$pdo = $ground->server->pdo();
prove_exclusion($ground, fn () => new PostgreSqlStore($pdo), 'PDO');
prove_exclusion($ground, fn () => new PostgreSqlStore($pdo, ['db_username' => 'no matter']), 'PDO with options');

/* What PDO was told of its answers is no matter. */
$pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, true);
$pdo->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_CLASS);
$pdo->setAttribute(PDO::ATTR_ORACLE_NULLS, PDO::NULL_EMPTY_STRING);
$pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, false);
prove_exclusion($ground, fn () => new PostgreSqlStore($pdo), 'PDO with attributes');

/* The session lives as long as the object, and the object as long as somebody uses it. */
$store = new PostgreSqlStore($pdo);
$lock = $ground->lock('r', $store);
$reference = WeakReference::create($pdo);
unset($pdo, $store);
check($lock->acquire() && $ground->server->held() === 1, 'the lock keeps the connection');
unset($lock);
check($reference->get() === null, 'which goes with the last of its users');
$ground->server->awaitSessions(0);
check_same(0, $ground->server->held(), 'and with it all that it held');
echo "done\n";
--EXPECT--
done
