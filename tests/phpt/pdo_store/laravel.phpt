--TEST--
PdoStore and DoctrineDbalStore in Laravel's layout exclude Laravel's DatabaseLock, statement by statement, in each database
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
pdo_pgsql
pdo_sqlite
pcntl
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';

use Latch\{Key, Lock};
use Latch\Store\{DoctrineDbalStore, PdoStore};

/** The statements of Illuminate\Cache\DatabaseLock, Laravel 12. */
final class LaravelLock
{
    private string $key;

    public function __construct(private PDO $pdo, private string $name, private int $seconds, private string $owner)
    {
        $this->key = $pdo->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql' ? '`key`' : '"key"';
    }

    /** Once more where MySQL has given the statement up for another one: Laravel's caller would see an exception. */
    private function run(string $sql, array $values): PDOStatement
    {
        $statement = $this->pdo->prepare(str_replace('KEY', $this->key, $sql));
        try {
            $statement->execute($values);
            return $statement;
        } catch (PDOException $e) {
            return $e->getCode() === '40001' ? $this->run($sql, $values) : throw $e;
        }
    }

    public function acquire(): bool
    {
        try {
            $this->run('insert into cache_locks (KEY, owner, expiration) values (?, ?, ?)',
                [$this->name, $this->owner, time() + $this->seconds]);
            $acquired = true;
        } catch (PDOException) {
            $acquired = $this->run('update cache_locks set owner = ?, expiration = ? where KEY = ? and (owner = ? or expiration <= ?)',
                [$this->owner, time() + $this->seconds, $this->name, $this->owner, time()])->rowCount() >= 1;
        }
        $this->run('delete from cache_locks where expiration <= ?', [time()]);
        return $acquired;
    }

    public function release(): bool
    {
        if ($this->run('select owner from cache_locks where KEY = ? limit 1', [$this->name])->fetchColumn() !== $this->owner) {
            return false;
        }
        $this->run('delete from cache_locks where KEY = ? and owner = ?', [$this->name, $this->owner]);
        return true;
    }
}

/** @param list<PdoStore|DoctrineDbalStore> $stores on the same table, with the prefix "app:" */
function prove_exclusion_with_laravel(PDO $pdo, string $what, array $stores): void
{
    $theirs = new LaravelLock($pdo, 'app:r', 60, 'sixteen letters.');
    $rows = fn (): array => $pdo->query('SELECT * FROM cache_locks')->fetchAll(PDO::FETCH_NUM);
    foreach ($stores as $at => $store) {
        $case = "$what, store $at";
        $lock = new Lock($key = new Key('r'), $store, 30);
        $sent = time();
        check($lock->acquire(), "$case: acquired");
        [[$name, $owner, $expiration]] = $rows();
        check_same(['app:r', 44], [$name, strlen($owner)], "$case: one row, with the prefix");
        check($expiration > $sent + 30 && $expiration <= time() + 32, "$case: not before the time is over: " . $expiration - $sent);
        check_same((string) (int) $expiration, (string) $expiration, "$case: in whole seconds");
        check(!$theirs->acquire(), "$case: theirs finds our row");
        check(!$theirs->release(), "$case: and cannot delete it");
        foreach ($stores as $other) {
            check(!(new Lock(new Key('r'), $other, 30))->acquire(), "$case: ours as well");
        }
        $lock->refresh(90);
        check($rows()[0][2] > time() + 89 && $lock->isAcquired(), "$case: renewed");
        $lock->release();
        check_same([], $rows(), "$case: released");

        check($theirs->acquire() && !$lock->acquire() && !$lock->isAcquired(), "$case: ours finds their row");
        check(!$lock->acquire(true, 0.05), "$case: and waits for it");
        $lock->release();
        check_same(1, count($rows()), "$case: and does not delete it");
        check($theirs->release() && $lock->acquire(), "$case: free again");
        check((new LaravelLock($pdo, 'app:r', 60, $rows()[0][1]))->release(), "$case: the owner is who may release");
        check(!$lock->isAcquired(), "$case: which ours learns");

        /* What has expired is anybody's, from its second on. */
        check($theirs->acquire(), "$case: theirs");
        $pdo->exec('UPDATE cache_locks SET expiration = ' . time());
        check($lock->acquire(), "$case: theirs had expired");
        $pdo->exec('UPDATE cache_locks SET expiration = ' . time());
        check(!$lock->isAcquired(), "$case: ours has expired");
        check($theirs->acquire() && $theirs->release(), "$case: and is theirs");

        /* Names that Laravel could not store. */
        $long = new Lock(new Key(str_repeat('a', 252)), $store, 30);
        check($long->acquire() && !(new Lock(new Key(str_repeat('a', 252)), $store, 30))->acquire(), "$case: a long name");
        check_same(hash('sha256', 'app:' . str_repeat('a', 252)), $rows()[0][0], "$case: is hashed with its prefix");
        $long->release();
        check((new Lock($short = new Key(str_repeat('a', 251)), $store, 30, false))->acquire(), "$case: one that fits");
        check_same('app:' . str_repeat('a', 251), $rows()[0][0], "$case: is not");
        $store->delete($short);
    }
}

const OPTIONS = ['layout' => 'laravel', 'prefix' => 'app:'];
$migration = 'CREATE TABLE cache_locks (KEY varchar(255) NOT NULL PRIMARY KEY, owner varchar(255) NOT NULL, expiration bigint NOT NULL)';
$index = 'CREATE INDEX cache_locks_expiration_index ON cache_locks (expiration)';

/* Whose migration comes first does not matter. */
foreach (['pgsql' => Ground::postgresql(...), 'mysql' => Ground::mysql(...), 'sqlite' => null] as $driver => $start) {
    $server = $start === null ? null : $start()->server;
    $dsn = $server?->pdoDsn() ?? 'sqlite:' . temporary_directory() . '/laravel.db';
    $login = $server === null ? [] : ['db_username' => $server::USER, 'db_password' => $server::PASSWORD];
    $connect = fn () => new PDO($dsn, $login['db_username'] ?? null, $login['db_password'] ?? null);
    $pdo = $connect();
    $stores = [
        new PdoStore($connect(), OPTIONS, 0.5),
        new PdoStore($dsn, OPTIONS + $login, 0.5),
        new DoctrineDbalStore($server === null ? str_replace('sqlite:', 'sqlite:///', $dsn) : str_replace('+advisory', '', $server->url()), OPTIONS),
    ];
    prove_exclusion_with_laravel($pdo, "$driver, made by ours", $stores);
    foreach (array_slice($stores, 0, 2) as $at => $store) {
        $pdo->exec('DROP TABLE cache_locks');
        $store->createTable();
        check_same(0, (int) $pdo->query('SELECT count(*) FROM cache_locks')->fetchColumn(), "$driver: created by store $at");
        check(str_contains(outcome(fn () => $store->createTable()), 'Latch\Exception\LockStorageException: '), "$driver: once by store $at");
    }
    $pdo->exec('DROP TABLE cache_locks');
    $pdo->exec(str_replace('KEY v', $driver === 'mysql' ? '`key` v' : '"key" v', $migration));
    $pdo->exec($index);
    prove_exclusion_with_laravel($pdo, "$driver, made by theirs", $stores);

    /* Processes of both kinds: nobody is let in twice. */
    $pdo->exec('CREATE TABLE inside (name VARCHAR(20) PRIMARY KEY)');
    $children = array_map(fn (int $number) => fork(function ($parent) use ($connect, $number) {
        $pdo = $connect();
        $pdo->setAttribute(PDO::ATTR_TIMEOUT, 60); // SQLite's time to wait for others
        $store = new PdoStore($connect(), OPTIONS, 0.5);
        for ($round = 0; $round < 10; $round++) {
            $name = 'lock ' . ($round + $number) % 2;
            $lock = $number % 2 === 0 ? new Lock(new Key($name), $store, 60) : new LaravelLock($pdo, "app:$name", 60, "owner $number");
            $acquired = $number % 2 === 0 ? fn () => $lock->acquire(true) : fn () => $lock->acquire();
            wait_until($acquired, "$name is had by process $number");
            $pdo->exec("INSERT INTO inside VALUES ('$name')");
            $pdo->exec("DELETE FROM inside WHERE name = '$name'");
            $lock->release();
        }
        $parent->say('well');
    }), range(1, 4));
    foreach ($children as $child) {
        $child->hear_exactly('well');
    }
    $server?->stop();
}
echo "done\n";
--EXPECT--
done
