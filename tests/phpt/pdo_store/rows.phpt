--TEST--
PdoStore in SQLite: a lock is a row as Symfony's store writes it, one statement each way, its state and expiry included
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Store\PdoStore;

const STATE = 'Symfony\Component\Lock\Store\PdoStore';

class TellingPdo extends PDO
{
    /** @var list<string> the statements that it was asked for since the last look */
    private array $statements = [];

    public function prepare(string $query, array $options = []): PDOStatement|false
    {
        $this->statements[] = $query;
        return parent::prepare($query, $options);
    }

    public function exec(string $statement): int|false
    {
        $this->statements[] = $statement;
        return parent::exec($statement);
    }

    /** The first words of each. */
    public function said(): array
    {
        $said = array_map(fn (string $statement) => strtok($statement, ' '), $this->statements);
        $this->statements = [];
        return $said;
    }
}

/** What is left of a TTL on a busy machine. */
function is_about(int $ttl, float $left): bool
{
    return $left > $ttl - 10 && $left <= $ttl + 1;
}

$file = temporary_directory() . '/locks.db';
$theirs = new PDO("sqlite:$file");
$rows = fn (string $table = 'lock_keys'): array => $theirs->query("SELECT * FROM $table")->fetchAll(PDO::FETCH_NUM);
$id = hash('sha256', 'r');
$make = fn (string $resource = 'r'): Key => new Key($resource);

/* The table is made when it is missed, and then there is one statement each way. */
$pdo = new TellingPdo("sqlite:$file");
$store = new PdoStore($pdo, [], 0);
$lock = new Lock($make(), $store, 30);
check_same([], $pdo->said(), 'nothing is sent before the first request');
check($lock->acquire(), 'acquired');
check_same(['INSERT', 'CREATE', 'INSERT'], $pdo->said(), 'the table was missing');
check_same('CREATE TABLE lock_keys (key_id TEXT NOT NULL PRIMARY KEY, key_token TEXT NOT NULL, key_expiration INTEGER)',
    $theirs->query("SELECT sql FROM sqlite_master")->fetchColumn(), 'as Symfony creates it');
$before = microtime(true);
$lock->release();
check($lock->acquire(), 'acquired');
$lock->release();
check_same(['DELETE', 'INSERT', 'DELETE'], $pdo->said(), 'each by one statement');
check_same([], $rows(), 'nothing is left');

/* What is in the row. */
$key = $make();
$lock = new Lock($key, $store, 30);
$sent = microtime(true);
check($lock->acquire(), 'acquired');
$came = microtime(true);
[[$rowId, $token, $expiration]] = $rows();
check_same($id, $rowId, 'the sha256 of the resource');
check_same([44, 32], [strlen($token), strlen(base64_decode($token, true))], 'base64 of 32 bytes');
check($expiration >= $sent + 30 && $expiration <= $came + 30.01, "never early: $expiration");
check_same([STATE => $token], $key->__serialize()['state'], 'the state of the key');
check($key->getRemainingLifetime() > 29 && $key->getRemainingLifetime() <= 30, 'the lifetime of the key');
check(!(new Lock($make(), $store))->acquire(), 'exclusive');
check(!(new Lock($make(), new PdoStore("sqlite:$file")))->acquire(), 'exclusive, by a DSN, too');
check(!(new Lock($make(), $store))->acquire(true, 0.15), 'a wait ends');
check((new Lock($make('s'), $store))->acquire(), 'another resource');
check($lock->acquire(), 'again by the same key');
check_same($token, $rows()[0][1], 'by the same token');
$lock->refresh(60);
check(is_about(60, $rows()[0][2] - microtime(true)), 'put off');
check(is_about(60, $key->getRemainingLifetime()), 'the key knows');

/* A key that was handed over, both ways. */
$copy = unserialize(serialize($key));
$other = new PdoStore("sqlite:$file");
check($other->exists($copy), 'there');
$other->putOffExpiration($copy, 100);
check(is_about(100, $rows()[0][2] - microtime(true)), 'put off there');
check($lock->isAcquired(), 'still ours');
$other->delete($copy);
check(!$store->exists($key), 'released there');
$key = $make();
$key->setState(STATE, 'a token of Symfony\'s');
$store->save($key);
check_same([[$id, 'a token of Symfony\'s']], array_map(fn ($row) => array_slice($row, 0, 2), $rows()), 'by a token that came with the key');
$store->delete($make());
check($store->exists($key), 'another key deletes nothing');
$store->delete($key);

/* Rows of others: expired ones are anybody's, and one that is wrong is nobody's. */
$insert = $theirs->prepare("INSERT OR REPLACE INTO lock_keys VALUES ('$id', 'theirs', ?)");
foreach ([[0, true], [time() - 1, true], [-5, true], [time() + 5, false], [null, false], ['text', false]] as [$expiration, $free]) {
    $insert->execute([$expiration]);
    $key = $make();
    check_same($free ? 'NULL' : 'Latch\Exception\LockConflictedException: ', outcome(fn () => $store->save($key)), 'a row with ' . json_encode($expiration));
    check_same($free, $store->exists($key), 'exists()');
    $store->delete($key);
    check_same($free ? [] : ['theirs'], array_column($rows(), 1), 'deleted');
    $theirs->exec('DELETE FROM lock_keys');
}

/* A lock that has expired is lost, and can be taken anew. */
$key = $make();
$store->save($key);
$theirs->exec('UPDATE lock_keys SET key_expiration = 5');
check(!$store->exists($key), 'expired');
check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->putOffExpiration($key, 5)), 'too late');
$store->save($key);
check($store->exists($key), 'taken anew');
$theirs->exec("UPDATE lock_keys SET key_expiration = 5, key_token = 'theirs'");
check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->putOffExpiration($key, 5)), 'somebody else had it');
check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $store->putOffExpiration($make('never'), 5)), 'never held');
$theirs->exec('DELETE FROM lock_keys');

/* Expired rows are deleted with that probability. */
foreach ([[0, 2], [1, 1]] as [$probability, $left]) {
    $theirs->exec("INSERT OR REPLACE INTO lock_keys VALUES ('old', 'theirs', 5)");
    $pruning = new PdoStore($pdo, [], $probability);
    $pruning->save($key = $make());
    check_same($left, count($rows()), "with the probability $probability");
    $pruning->delete($key);
}
$theirs->exec('DELETE FROM lock_keys');

/* Names of its own, and createTable(). */
$named = new PdoStore($pdo, ['db_table' => '"lock keys"', 'db_id_col' => '"select"', 'db_token_col' => '`a b`', 'db_expiration_col' => 'größe']);
$named->createTable();
$named->save($key = $make());
check_same(1, count($rows('"lock keys"')), 'names that are quoted');
check($named->exists($key) && !$store->exists($key), 'tables of their own');
$named->putOffExpiration($key, 3);
$named->delete($key);
check_same([], $rows('"lock keys"'), 'deleted');
echo outcome(fn () => $named->createTable()), "\n";
(new PdoStore("sqlite:$file", ['db_table' => 'by_dsn']))->createTable();
check_same([], $rows('by_dsn'), 'by a DSN');

/* Attributes of the connection. */
$odd = new PDO("sqlite:$file", options: [PDO::ATTR_STRINGIFY_FETCHES => true, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_OBJ]);
$oddStore = new PdoStore($odd);
$oddStore->save($key = $make());
check($oddStore->exists($key), 'with numbers as texts');
check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $oddStore->save($make())), 'a conflict');
$odd->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
check_same('Latch\Exception\LockConflictedException: ', outcome(fn () => $oddStore->save($make())), 'without exceptions');
$theirs->exec('ALTER TABLE lock_keys RENAME TO away');
check(str_contains(outcome(fn () => $oddStore->exists($key)), 'no such table: lock_keys'), 'an error without exceptions: ' . outcome(fn () => $oddStore->exists($key)));
$theirs->exec('ALTER TABLE away RENAME TO lock_keys');
$odd->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$oddStore->delete($key);

/* In a transaction. */
$odd->beginTransaction();
$oddStore->save($key = $make());
$theirs->setAttribute(PDO::ATTR_TIMEOUT, 0);
$locked = outcome(fn () => (new PdoStore($theirs))->save($make('s')));
check(str_starts_with($locked, 'Latch\Exception\LockStorageException: ') && str_contains($locked, 'database is locked'), "no conflict: $locked");
$odd->rollBack();
check(!$oddStore->exists($key), 'rolled back');
$odd->beginTransaction();
(new PdoStore($odd, ['db_table' => 'made_inside']))->save($make());
check($odd->inTransaction(), 'a table is made in a transaction');
$odd->rollBack();
check_same(0, (int) $odd->query("SELECT count(*) FROM sqlite_master WHERE name = 'made_inside'")->fetchColumn(), 'and is gone with it');

/* A table that has no primary key excludes nobody. */
$theirs->exec('CREATE TABLE keyless (key_id TEXT, key_token TEXT, key_expiration INTEGER)');
echo outcome(fn () => (new PdoStore($pdo, ['db_table' => 'keyless']))->save($make())), "\n";

/* Many at once, and the end of the program. */
$factory = new LockFactory($store);
$locks = array_map(fn (int $at) => $factory->createLock("lock $at", 10), range(1, 50));
foreach ($locks as $at => $lock) {
    check($lock->acquire(), "lock $at");
}
check_same(50, count(array_filter($rows(), fn ($row) => $row[2] > time())), 'held');
$locks = $lock = null;
check_same(0, count(array_filter($rows(), fn ($row) => $row[2] > time())), 'released by their ends');
echo outcome(fn () => (new Lock($make(), $store, 5))->acquireRead()), "\n";

/* Kept alive with a DSN; in a store of stores. */
$kept = new Lock($make('kept'), new PdoStore("sqlite:$file"), 5);
$kept->keepAlive();
check($kept->acquire() && $kept->isAcquired(), 'kept alive');
$kept->release();
echo outcome(fn () => (new Lock($make('kept'), $store, 5))->keepAlive()), "\n";
$combined = new Latch\Store\CombinedStore([$store, new Latch\Store\InMemoryStore()], new Latch\Strategy\UnanimousStrategy());
$lock = new Lock($key = $make(), $combined, 5);
check($lock->acquire() && $store->exists($key), 'in a combined store');
check(!(new Lock($make(), $store, 5))->acquire(), 'exclusive');
$lock->release();
check(!$store->exists($key), 'released');

/* Relative paths, and open_basedir, which PDO checks. */
chdir(dirname($file));
$relative = new PdoStore('sqlite:relative.db');
chdir('/');
$relative->save($key = $make());
check(file_exists(dirname($file) . '/relative.db'), 'in the folder that was the current one');
ini_set('open_basedir', dirname($file));
check((new PdoStore("sqlite:$file"))->exists($key) === false, 'inside of open_basedir');
check(str_contains(outcome(fn () => (new PdoStore('sqlite:/var/tmp/latch-outside.db'))->exists($key)), 'open_basedir'), 'outside of open_basedir');
echo "done\n";
--EXPECT--
PDOException: SQLSTATE[HY000]: General error: 1 table "lock keys" already exists
Latch\Exception\LockStorageException: Failed to store the "r" lock: a statement was refused by SQLite at the given connection: SQLSTATE[HY000]: General error: 1 ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint.
true
Latch\Exception\InvalidArgumentException: The "kept" lock cannot be kept alive in a Latch\Store\PdoStore: the table store cannot do that: its database is reached by a given connection, which only the thread that has the connection can use; give the store a DSN; call refresh() in time.
done
