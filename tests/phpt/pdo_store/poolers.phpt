--TEST--
PdoStore behind PgBouncer: waiters poll, and leave nothing in the sessions that it lends, whatever waits beside them
--EXTENSIONS--
pcntl
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip the same code is run by other tests of these stores, and it takes long there');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\{Key, Lock};
use Latch\Store\PdoStore;
use Latch\Tests\{PgBouncer, SqlServer};

$server = Ground::postgresql()->server;
$open = fn (string $dsn) => new PdoStore($dsn, ['db_username' => SqlServer::USER, 'db_password' => SqlServer::PASSWORD], 0);
$make = fn (string $dsn) => new Lock(new Key('r'), $open($dsn), 60);

foreach (['transaction' => 1, 'session' => 10] as $pooling => $size) {
    $pooler = new PgBouncer($server, $pooling, $size);
    $holder = $make($pooler->pdoDsn());
    check($holder->acquire(), "$pooling: acquired");
    check_same(false, $make($pooler->pdoDsn())->acquire(true, 0.3), "$pooling: a time-out");
    check_same(0, $server->held(), "$pooling: no ticket");
    $pooled = fork(function ($parent) use ($make, $pooler) {
        $lock = $make($pooler->pdoDsn());
        $parent->say('begins');
        $parent->say(json_encode($lock->acquire(true, PATIENCE)));
        $lock->release();
        $parent->say('released');
    });
    $pooled->hear_exactly('begins');
    /* One that is connected to the server has the ticket; one that polls may be faster all the same. */
    $direct = fork(function ($parent) use ($make, $server) {
        $lock = $make($server->pdoDsn());
        $parent->say(json_encode($lock->acquire(true, PATIENCE)));
        $lock->release();
        $parent->say('released');
    });
    wait_until(fn () => $server->held() === 1, "$pooling: a ticket");
    $holder->release();
    $direct->hear_exactly('true');
    $direct->hear_exactly('released');
    $pooled->hear_exactly('true');
    $pooled->hear_exactly('released');
    wait_until(fn () => $server->held() === 0, "$pooling: nothing left");
    check_same('0', $pooler->session()->value('SELECT count(*) FROM pg_prepared_statements'), "$pooling: nothing prepared");
    unset($holder, $pooled, $direct, $pooler);
}
echo "done\n";
--EXPECT--
done
