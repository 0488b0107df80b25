--TEST--
MysqlStore: an account of client_ed25519, whose method libmariadb takes from a file of its own
--SKIPIF--
<?php
if (getenv('LATCH_MYSQL_SERVER')) {
    die('skip the method is one of MariaDB, which MySQL does not have');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\{Key, Lock};
use Latch\Store\MysqlStore;

$server = new Latch\Tests\MySqlServer();
$server->rows("INSTALL SONAME 'auth_ed25519'");
$server->rows("CREATE USER edward@'%' IDENTIFIED VIA ed25519 USING PASSWORD('ed-secret')");
$server->rows("GRANT ALL ON *.* TO edward@'%'");
$dsn = str_replace(';user=' . Latch\Tests\MySqlServer::USER, ';user=edward', $server->dsn(password: 'ed-secret'));
$lock = new Lock(new Key('r'), new MysqlStore($dsn));
check($lock->acquire(), 'the lock');
check_same(1, $server->held(), 'locks in the server');
// which nothing of the program itself brings along
check(str_contains(file_get_contents('/proc/self/maps'), '/client_ed25519.so'), 'the method is in a file');
$lock->release();
check_same(0, $server->held(), 'locks in the server behind it');

$wrong = new Lock(new Key('r'), new MysqlStore(str_replace('ed-secret', 'guessed', $dsn)));
try {
    $wrong->acquire();
    echo "BROKEN: it has the lock\n";
} catch (Latch\Exception\LockAcquiringException $e) {
    check(str_contains($e->getPrevious()->getMessage(), 'Access denied'), $e->getPrevious()->getMessage());
    check(!str_contains((string) $e, 'guessed'), 'no password');
}
echo "done\n";
--EXPECT--
done
