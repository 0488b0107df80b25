--TEST--
PostgreSqlStore behind a pooler: it works in a session of one's own, and says what is wrong where sessions change
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip the same code is run by other tests of these stores, and it takes long there');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Store\PostgreSqlStore;
use Latch\Tests\PgBouncer;

$ground = Ground::postgresql();
$server = $ground->server;

$pooler = new PgBouncer($server, 'session', 10);
$store = new PostgreSqlStore($pooler->dsn());
$lock = $ground->lock('r', $store);
check_same(true, $lock->acquire(), 'session: acquired');
check_same(false, $ground->lock('r')->acquire(), 'session: excludes');
check_same(true, $lock->isAcquired(), 'session: is acquired');
check_same(false, $ground->lock('r')->acquire(true, 0.05), 'a time-out outside');
$waiter = $ground->lock('s', $store);
$holder = $ground->holder('s');
check_same(false, $waiter->acquire(true, 0.05), 'session: a time-out');
$lock->release();
check_same(0, $server->held() - 1, 'session: released');
unset($holder, $waiter, $lock, $store);

/* The second one's first statement takes the first one's session, which knows the statement already. */
$pooler = new PgBouncer($server, 'transaction', 1);
$first = $ground->lock('r', new PostgreSqlStore($pooler->dsn()));
check_same(true, $first->acquire(), 'transaction: the first one does not know yet');
$second = $ground->lock('other', new PostgreSqlStore($pooler->dsn(';persistent_id=2')));
foreach (['the second one' => fn () => $second->acquire(), 'again' => fn () => $second->acquire()] as $case => $acquire) {
    try {
        $acquire();
        echo "$case: no exception\n";
    } catch (Latch\Exception\LockAcquiringException $e) {
        $why = $e->getPrevious()->getMessage();
        check_same(true, str_contains($why, 'through a pooler that changes sessions'), "$case: $why");
        check_same(false, str_contains($why, $server::PASSWORD), "$case: no password");
    }
}
echo "done\n";
--EXPECT--
done
