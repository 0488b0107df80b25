--TEST--
Members in sessions of databases, by DSN and by PDO, beside others; each is told what becomes of the lock
--EXTENSIONS--
pdo
pdo_pgsql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, PostgreSqlStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};
use Latch\Tests\PostgreSqlServer;

class Held
{
    public static mixed $objects = null;
}

$server = new PostgreSqlServer();
$directory = temporary_directory();
$locked = fn () => $server->value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") !== '0';
/* What is given back by an object's end is not waited for. */
$released = fn (string $case) => wait_until(fn () => !$locked() && is_free($directory, 'a'), $case);
$make = fn (?PDO $pdo) => [
    new FlockStore($directory),
    new PostgreSqlStore($pdo ?? $server->dsn()),
    new RecordingStore($directory),
];

foreach (['DSN' => fn () => null, 'PDO' => fn () => disturbed_pdo($server)] as $kind => $connect) {
    foreach ([3, 2] as $members) {
        unset($pdo); // a child would end its session
        /* The request ends with the lock in a static property. */
        $child = fork(function () use ($make, $connect, $members, $locked) {
            $pdo = $connect();
            $store = new CombinedStore(array_slice($make($pdo), 0, $members), new UnanimousStrategy());
            Held::$objects = [$store, new Lock(new Key('c'), $store, 60), $pdo];
            check(Held::$objects[1]->acquire() && $locked(), 'acquired in a child');
            @trigger_error('the end', E_USER_ERROR);
        });
        check_same('exit 255', $child->ending(), "$kind, $members: a fatal error");
        $released("$kind, $members: released after a fatal error");
        check(is_free($directory, 'c'), "$kind, $members: released after a fatal error");

        $pdo = $connect();
        $stores = array_slice($make($pdo), 0, $members);
        $store = new CombinedStore($stores, new UnanimousStrategy());
        $lock = new Lock($key = new Key('a'), $store, 60);
        check($lock->acquire(), "$kind, $members: acquired");
        check($lock->isAcquired() && $stores[1]->exists($key), "$kind, $members: its member has it");
        check($locked('a'), "$kind, $members: the server has it");
        $lock->refresh();
        $lock->release();
        $released("$kind, $members: released");
        check($lock->acquireRead(), "$kind, $members: acquired for reading");
        unset($lock, $key);
        $released("$kind, $members: released with its object");

        /* Refused by another one, it does not stay in the session. */
        $other = new Lock(new Key('a'), $stores[0]);
        $other->acquire();
        check(!(new Lock(new Key('a'), $store))->acquire(), "$kind, $members: refused");
        $other->release();
        $released("$kind, $members: given back");

        if ($pdo !== null) {
            /* An Error in the midst of a statement goes on. */
            $pdo->before = fn () => throw new TypeError('in a statement');
            $key = new Key('a'); // whose end would look into the session, too
            check_same('TypeError: in a statement', outcome(fn () => (new Lock($key, $store))->acquire()), "$members: an Error");
            $pdo->before = null;
            $released("$members: the others give back after an Error");

            /* A failure is one vote. */
            $two = new CombinedStore([...$stores, new FlockStore(temporary_directory())], new ConsensusStrategy());
            $pdo->before = fn () => throw new PDOException('no more');
            check((new Lock($key, $two))->acquire(), "$members: the others are enough");
            $pdo->before = null;
            unset($key);
        }

        /* By hand, it stays until the last of key and store goes. */
        $store->save($key = new Key("d $kind"));
        unset($store, $stores, $two);
        gc_collect_cycles();
        check($locked(), "$kind, $members: the key has it");
        unset($key);
        $released("$kind, $members: no more");
    }
}
echo "done\n";
--EXPECT--
done
