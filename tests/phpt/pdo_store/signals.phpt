--TEST--
PdoStore by a DSN: signal handlers run while a lock is waited for, in the queue and by polls, may throw, and may use the very store
--EXTENSIONS--
pdo
pdo_sqlite
pcntl
posix
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\{Key, Lock};
use Latch\Store\PdoStore;
use Latch\Tests\{MySqlServer, PostgreSqlServer, SqlServer};

pcntl_async_signals(true);

/** Signals the test process again and again, once for each "now", when it waits. */
function signaller_when(callable $waits): Child
{
    $pid = getmypid();
    return fork(function (ParentLine $parent) use ($waits, $pid) {
        while ($parent->hear() !== null) {
            $waits();
            posix_kill($pid, SIGUSR1);
        }
        return 0;
    });
}

/** Another program's lock in the table. */
class Theirs
{
    /** @param Closure(string): mixed $run a statement */
    public function __construct(private Closure $run)
    {
    }

    public function take(): void
    {
        ($this->run)("INSERT INTO lock_keys VALUES ('" . hash('sha256', 'r') . "', 'theirs', 2000000000)");
    }

    public function give(): void
    {
        ($this->run)("DELETE FROM lock_keys WHERE key_token = 'theirs'");
    }
}

/** @param callable(): void $waits returns when a request of this process waits */
function prove_handlers(PdoStore $store, Theirs $theirs, callable $waits, string $case): void
{
    $lock = new Lock(new Key('r'), $store, 300);
    $inner = new Lock(new Key('inner'), $store, 300);
    $kept = new Lock(new Key('kept'), $store, 300);
    $signaller = signaller_when($waits);
    $handled = 0;
    $wait = function (callable $handle, ?float $timeout = null) use ($signaller, $lock, &$handled): string {
        $handled = 0;
        pcntl_signal(SIGUSR1, function () use ($handle, &$handled) {
            $handled++;
            $handle();
        });
        $signaller->say('now');
        $ending = ending(fn () => $lock->acquire(true, $timeout));
        pcntl_signal(SIGUSR1, SIG_DFL);
        return $ending;
    };

    $theirs->take();
    check_same('true', $wait($theirs->give(...)), "$case: a handler lets the lock be had");
    check_same(1, $handled, "$case: it ran once");
    $lock->release();
    foreach ([null, PATIENCE] as $timeout) {
        $theirs->take();
        check_same('FromHandler: ', $wait(fn () => throw new FromHandler(), $timeout), "$case: a handler throws");
        check(!$lock->isHeld() && !$lock->isAcquired(), "$case: nothing is taken");
        $theirs->give();
        check_same([], $store->listHeld(), "$case: nor is anything left");
    }
    check($kept->acquire(), "$case: another lock of the session");
    $theirs->take();
    check_same('true', $wait(function () use ($inner, $kept, $theirs, $case) {
        check($inner->acquire(), "$case: the handler takes a lock in the same session");
        check($kept->isAcquired(), "$case: and asks for one");
        $kept->release();
        $inner->release();
        $theirs->give();
    }), "$case: the wait goes on when the handler has used its session");
    check($lock->isAcquired() && !$kept->isAcquired(), "$case: what is held in the end");
    $lock->release();
    check_same([], $store->listHeld(), "$case: nothing is left");
}

function store_of(SqlServer $server): PdoStore
{
    $store = new PdoStore($server->pdoDsn(), ['db_username' => $server::USER, 'db_password' => $server::PASSWORD], 0);
    $store->createTable();
    return $store;
}

$postgresql = new PostgreSqlServer();
$store = store_of($postgresql);
$theirs = new Theirs($postgresql->session()->rows(...));
/* It has the ticket. */
prove_handlers($store, $theirs, fn () => $postgresql->awaitHeld(1), 'the first waiter');
$postgresql->awaitHeld(0);
/* Another process has the ticket: the wait for it is the server's. */
$theirs->take();
$first = fork(function (ParentLine $parent) use ($store) {
    $lock = new Lock(new Key('r'), $store, 300);
    $acquired = $lock->acquire(true);
    $lock->release();
    return $acquired ? 0 : 1;
});
$postgresql->awaitHeld(1);
$lock = new Lock(new Key('r'), $store, 300);
$signaller = signaller_when(fn () => $postgresql->awaitWaiting(1));
pcntl_signal(SIGUSR1, fn () => throw new FromHandler());
$signaller->say('now');
check_same('FromHandler: ', ending(fn () => $lock->acquire(true)), 'the second waiter: a handler throws');
check_same([1, 0], [$postgresql->held(), $postgresql->waiting()], 'it has left the queue');
pcntl_signal(SIGUSR1, $theirs->give(...));
$signaller->say('now');
check($lock->acquire(true), 'the second waiter: a handler lets the first one have the lock, and then it is its turn');
check_same('exit 0', $first->ending(), 'the first one');
$lock->release();
$postgresql->awaitHeld(0);

/* Polls cannot be seen from without. */
$mysql = new MySqlServer();
prove_handlers(store_of($mysql), new Theirs($mysql->session()->rows(...)), fn () => usleep(30_000), 'MariaDB');
$file = temporary_directory() . '/locks.db';
$store = new PdoStore("sqlite:$file", [], 0);
$store->createTable();
prove_handlers($store, new Theirs((new PDO("sqlite:$file"))->exec(...)), fn () => usleep(30_000), 'SQLite');
echo "done\n";
--EXPECT--
done
