--TEST--
PostgreSqlStore on a PDO object: a wait does not spoil a transaction; in one that has failed nothing can be done
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
require __DIR__ . '/../../utils/phpt_pdo.inc';

use Latch\Store\PostgreSqlStore;

$ground = Ground::postgresql();
$server = $ground->server;
$pdo = $server->pdo();
$store = new PostgreSqlStore($pdo);
$holder = $ground->holder('held');

foreach (['beginTransaction' => fn () => $pdo->beginTransaction(), 'BEGIN' => fn () => $pdo->exec('BEGIN')] as $case => $begin) {
    $begin();
    $pdo->exec('CREATE TABLE made (n int)');
    $lock = $ground->lock('free', $store);
    $held = $ground->lock('held', $store);
    check($lock->acquire(true), "$case: a wait in the transaction");
    check(!$held->acquire() && !$held->acquire(true, 0.05), "$case: which is in vain");
    check_same(false, $pdo->query("SELECT EXISTS (SELECT FROM made)")->fetchColumn(), "$case: the transaction is as it was");
    check_same('0', $pdo->query("SELECT current_setting('lock_timeout')")->fetchColumn(), "$case: so is the setting");

    /* It is spoilt by others. */
    check(str_contains(ending(fn () => $pdo->exec('nonsense')), 'syntax error'), "$case: an error");
    $another = $ground->lock('another', $store);
    $said = ending(fn () => $another->acquire(true));
    check(preg_match('/^LockAcquiringException: .* <- LockStorageException: .* a statement was refused by PostgreSQL .*'
        . 'transaction is aborted.* <- PDOException: SQLSTATE\[25P02\]/s', $said) === 1, "$case: no lock in it: $said");
    $said = ending(fn () => $lock->release());
    check(preg_match('/^LockReleasingException: .* <- LockStorageException: .* <- PDOException: /s', $said) === 1, "$case: nor a release: $said");
    $pdo->exec('ROLLBACK');
    check($lock->isAcquired(), "$case: the lock outlives the transaction");
    $lock->release();
    check_same(1, $server->held(), "$case: nothing is left but the other one's");
}
$pdo->exec("SET lock_timeout = '7s'");
check(!$held->acquire(true, 0.05), 'a wait out of a transaction');
check_same('7s', $pdo->query("SELECT current_setting('lock_timeout')")->fetchColumn(), 'the setting is as it was');
echo "done\n";
--EXPECT--
done
