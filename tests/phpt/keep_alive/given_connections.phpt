--TEST--
A lock in the session of a PDO object cannot be watched by a thread, and that is said
--EXTENSIONS--
pdo
pdo_pgsql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\{Key, Lock};
use Latch\Store\PostgreSqlStore;
use Latch\Tests\PostgreSqlServer;

$server = new PostgreSqlServer();
$store = new PostgreSqlStore($server->pdo());
$lock = new Lock(new Key('a lock'), $store);
foreach (['kept alive' => fn () => $lock->keepAlive(), 'watched' => fn () => $lock->onLost(fn () => null)] as $what => $call) {
    check_same(1, preg_match(
        "/^Latch.Exception.InvalidArgumentException: The \"a lock\" lock cannot be $what in a Latch.Store.PostgreSqlStore: "
            . '.*connection.*; make the store of a DSN, or ask isAcquired\(\) when it matters\.$/',
        $message = outcome($call)
    ), "$what: $message");
}
ini_set('latch.keep_alive', 1);
check($lock->acquire() && $lock->isHeld(), 'the lock is what it was');
$lock->release();
check(!$lock->isAcquired(), 'released');

$lock = (new Lock(new Key('a lock'), new PostgreSqlStore($server->dsn())))->keepAlive();
check($lock->acquire() && $lock->isHeld(), 'with a DSN it is watched');
$lock->release();
echo "done\n";
--EXPECT--
done
