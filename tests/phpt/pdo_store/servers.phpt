--TEST--
PdoStore in PostgreSQL and MariaDB: beside the statements of Symfony's store, in transactions, and where the server gives up
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
pdo_pgsql
pcntl
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';

use Latch\{Key, Lock};
use Latch\Store\PdoStore;
use Latch\Tests\SqlServer;

/** A connection with these attributes. */
function connect(SqlServer $server, array $options = []): PDO
{
    return new PDO($server->pdoDsn(), $server::USER, $server::PASSWORD, $options);
}

/** From PHP 8.4 on it is a constant of another class, and from 8.5 on of that alone. */
function mysql_attribute(string $name): int
{
    return constant(class_exists('Pdo\Mysql') ? "Pdo\Mysql::$name" : "PDO::MYSQL_$name");
}

/** How long the one row is there yet, by the server's clock. */
function left(PDO $pdo, string $now): float
{
    return (float) $pdo->query("SELECT key_expiration - $now FROM lock_keys")->fetchColumn();
}

function prove_table(SqlServer $server, string $now, array $attributes): void
{
    $theirs = connect($server);
    $make = fn (string $resource = 'r'): Key => new Key($resource);
    $id = hash('sha256', 'r');
    foreach ($attributes as $what => $options) {
        $store = new PdoStore(connect($server, $options), [], 0);
        $again = new PdoStore($server->pdoDsn(), ['db_username' => $server::USER, 'db_password' => $server::PASSWORD, 'db_connection_options' => $options]);
        $key = $make();
        $store->save($key);
        $store->save($key);
        check($store->exists($key) && !$again->exists($make()), "$what: there");
        check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $again->save($make())), "$what: a conflict");
        check(left($theirs, $now) > 299 && left($theirs, $now) <= 301.5, "$what: not before the time is over");
        $again->putOffExpiration($copy = unserialize(serialize($key)), 2.5);
        $store->putOffExpiration($key, 2.5);
        check(left($theirs, $now) > 2 && left($theirs, $now) < 4.1, "$what: put off");
        check_same(1, $theirs->exec("UPDATE lock_keys SET key_expiration = 5"), 'expired');
        check(!$store->exists($key), "$what: expired");
        $again->save($make());
        check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->putOffExpiration($key, 10)), "$what: lost");
        check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->save($key)), "$what: lost");
        $store->delete($key);
        check_same(1, (int) $theirs->query('SELECT count(*) FROM lock_keys')->fetchColumn(), "$what: theirs stays");
        $theirs->exec('DELETE FROM lock_keys');
    }

    /* Symfony's statements. */
    $take = "INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES ('$id', 'theirs', $now + 300)";
    $store = new PdoStore(connect($server), [], 1);
    $store->save($key = $make());
    check(str_starts_with(outcome(fn () => $theirs->exec($take)), 'PDOException'), 'they find our row');
    $store->delete($key);
    check_same(1, $theirs->exec($take), 'and none');
    check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->save($key)), 'we find theirs');
    check(!(new Lock($make(), $store, 5))->acquire(true, 0.05), 'and wait for it');
    $theirs->exec('UPDATE lock_keys SET key_expiration = 5');
    $theirs->exec("INSERT INTO lock_keys (key_id, key_token, key_expiration) VALUES ('old', 'theirs', 5)");
    $store->save($key);
    check_same([[$id]], $theirs->query('SELECT key_id FROM lock_keys')->fetchAll(PDO::FETCH_NUM), 'what has expired is taken over, or deleted');
    $store->delete($key);

    /* Fencing tokens grow, whoever has the lock. */
    $last = 0;
    $theirs->exec('DROP TABLE lock_keys');
    foreach ([connect($server), $server->pdoDsn(), connect($server), $server->pdoDsn()] as $at => $place) {
        $fenced = new PdoStore($place, ['fencing' => true, 'db_username' => $server::USER, 'db_password' => $server::PASSWORD]);
        $lock = new Lock($make(), $fenced, 30);
        check($lock->acquire() && $lock->getFencingToken() > $last, "fencing token $at: {$lock->getFencingToken()} after $last");
        $last = $lock->getFencingToken();
        $lock->release();
    }

    /* Processes that take the same three locks at once, and prune: no error comes through, and nobody is let in twice. */
    $theirs->exec('CREATE TABLE inside (name VARCHAR(20) PRIMARY KEY)');
    $children = array_map(fn (int $number) => fork(function ($parent) use ($server, $number) {
        $pdo = connect($server);
        $store = new PdoStore(connect($server), [], 0.5);
        for ($round = 0; $round < 30; $round++) {
            $name = 'lock ' . ($round + $number) % 3;
            $lock = new Lock(new Key($name), $store, 60);
            $lock->acquire(true);
            $pdo->exec("INSERT INTO inside VALUES ('$name')");
            $pdo->exec("DELETE FROM inside WHERE name = '$name'");
            $lock->release();
        }
        $parent->say('well');
    }), range(1, 4));
    foreach ($children as $child) {
        $child->hear_exactly('well');
    }

    /* The server ends the sessions: an error; by a DSN the statement is sent again. */
    $byDsn = new PdoStore($server->pdoDsn(), ['db_username' => $server::USER, 'db_password' => $server::PASSWORD]);
    $byDsn->save($key = $make());
    $server->endSessions();
    check(str_starts_with(outcome(fn () => $store->save($key)), 'Latch\Exception\LockStorageException: Failed to store the "r" lock: '), 'lost');
    check_same('NULL', outcome(fn () => $byDsn->save($key)), 'connected anew');
    check($byDsn->exists($key), 'connected anew');
    check(str_starts_with(outcome(fn () => $store->exists($key)), 'Latch\Exception\LockStorageException'), 'an object stays lost');

    /* A child has no connection of its parent's. */
    $given = new PdoStore(connect($server));
    $given->exists($key);
    $child = fork(function ($parent) use ($given, $byDsn, $key) {
        $parent->say(outcome(fn () => $given->save(new Key('child'))));
        $parent->say(json_encode($byDsn->exists($key)));
        $parent->hear_exactly('go');
    });
    check(str_ends_with($child->hear(), "the given connection is the parent process's: a forked child needs one of its own."), 'the given one');
    $child->hear_exactly('true');
    $child->kill(); // at its end PDO would end the parent's session
    check($byDsn->exists($key) && $given->exists(new Key('x')) === false, "the parent's go on");
    $byDsn->delete($key);
}

$server = Ground::postgresql()->server;
prove_table($server, 'CAST(EXTRACT(epoch FROM NOW()) AS DOUBLE PRECISION)', [
    'PDO' => [],
    'emulated' => [PDO::ATTR_EMULATE_PREPARES => true],
    'persistent' => [PDO::ATTR_PERSISTENT => true],
    'texts' => [PDO::ATTR_STRINGIFY_FETCHES => true],
]);

/* A transaction goes on, whatever the answer; its start is not the time of its locks. */
$pdo = connect($server);
$holder = new PdoStore(connect($server));
$holder->save($held = new Key('held'));
$pdo->beginTransaction();
$pdo->query('SELECT pg_sleep(1.1)')->fetchAll();
$store = new PdoStore($pdo, [], 1);
check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->save(new Key('held'))), 'a conflict in a transaction');
$lock = new Lock(new Key('mine'), $store, 1);
check($lock->acquire(), 'acquired in a transaction');
check_same('t', $pdo->query("SELECT key_expiration > extract(epoch from clock_timestamp()) + 0.9 FROM lock_keys WHERE key_id = '"
    . hash('sha256', 'mine') . "'")->fetchColumn() ? 't' : 'f', 'by the time now');
$lock->release();
$pdo->commit();
/* Nor does a missing table spoil it. */
$pdo->beginTransaction();
$inside = new PdoStore($pdo, ['db_table' => 'made_inside']);
check(!$inside->exists(new Key('x')), 'looked for');
$inside->save($key = new Key('x'));
check($inside->exists($key), 'made in a transaction');
check_same(1, (int) $pdo->query('SELECT count(*) FROM made_inside')->fetchColumn(), 'the transaction goes on');
$pdo->rollBack();
check_same(null, $pdo->query("SELECT to_regclass('made_inside')")->fetchColumn(), 'and gone with it');
echo outcome(fn () => $store->createTable()), "\n";
$byDsn = new PdoStore($server->pdoDsn(), ['db_username' => $server::USER, 'db_password' => $server::PASSWORD, 'db_table' => 'by_dsn']);
$byDsn->createTable();
check_same(0, (int) $pdo->query('SELECT count(*) FROM by_dsn')->fetchColumn(), 'created by a DSN');
check(str_contains(outcome(fn () => $byDsn->createTable()), 'already exists'), 'once: ' . outcome(fn () => $byDsn->createTable()));
$pdo->exec('CREATE TABLE keyless (key_id TEXT, key_token TEXT, key_expiration INTEGER)');
check(str_contains(outcome(fn () => (new PdoStore($pdo, ['db_table' => 'keyless']))->save(new Key('x'))), 'no unique or exclusion constraint'), 'without a primary key');
$pdo->exec('SET default_transaction_read_only = on');
check(str_contains(outcome(fn () => (new PdoStore($pdo))->save(new Key('x'))), 'read-only transaction'), 'read-only');
$server->stop();

$server = Ground::mysql()->server;
prove_table($server, 'UNIX_TIMESTAMP(NOW(6))', [
    'PDO' => [],
    'prepared' => [PDO::ATTR_EMULATE_PREPARES => false],
    'counts of rows that match' => [mysql_attribute('ATTR_FOUND_ROWS') => true],
    'unbuffered' => [mysql_attribute('ATTR_USE_BUFFERED_QUERY') => false],
]);

/* MySQL ends a transaction before it creates a table: it is not created there. */
$pdo = connect($server);
$pdo->exec('CREATE TABLE orders (id INTEGER)');
$pdo->beginTransaction();
$pdo->exec('INSERT INTO orders VALUES (1)');
check(str_contains(outcome(fn () => (new PdoStore($pdo, ['db_table' => 'missing']))->save(new Key('x'))), 'has to be created before a transaction'), 'no table');
check($pdo->inTransaction(), 'the transaction goes on');
(new PdoStore($pdo))->save(new Key('x'));
$pdo->rollBack();
check_same(0, (int) $pdo->query('SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM lock_keys)')->fetchColumn(), 'rolled back');
(new PdoStore($pdo, ['db_table' => 'missing']))->save(new Key('x'));
check_same('utf8mb4_bin', $pdo->query("SELECT collation_name FROM information_schema.columns WHERE table_name = 'missing' AND column_name = 'key_id'")->fetchColumn(), 'names are bytes');

/* A result that is not read to its end. */
$open = connect($server, [mysql_attribute('ATTR_USE_BUFFERED_QUERY') => false]);
$result = $open->query('SELECT 1 UNION SELECT 2');
$result->fetch();
$store = new PdoStore($open);
check(str_contains(outcome(fn () => $store->save(new Key('y'))), 'unbuffered queries'), 'an open result: ' . outcome(fn () => $store->save(new Key('y'))));
$result->closeCursor();
$store->save($key = new Key('y'));
check($store->exists($key), 'and none');
echo "done\n";
--EXPECT--
PDOException: SQLSTATE[42P07]: Duplicate table: 7 ERROR:  relation "lock_keys" already exists
done
