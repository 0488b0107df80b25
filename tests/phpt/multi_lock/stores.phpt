--TEST--
In every store a multi-lock has all its members or none, and leaves nothing behind
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\{LockFactory, PersistingStoreInterface};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, MysqlStore, NullStore, PdoStore, PostgreSqlStore, RedisStore, RedisStringStore, SemaphoreStore, SharedMemoryStore, StoreFactory};
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\RedisServer;

$redis = new RedisServer();
$second = new RedisServer();
$directory = temporary_directory();
$postgresql = Ground::postgresql();
$mysql = Ground::mysql();
$makers = [
    FlockStore::class => fn () => new FlockStore($directory),
    SemaphoreStore::class => fn () => new SemaphoreStore(),
    SharedMemoryStore::class => fn () => new SharedMemoryStore("$directory/memory", 100),
    InMemoryStore::class => fn () => new InMemoryStore(),
    RedisStore::class => fn () => new RedisStore($redis->dsn()),
    RedisStringStore::class => fn () => new RedisStringStore($redis->dsn('?prefix=string:')),
    CombinedStore::class => fn () => new CombinedStore([new RedisStore($redis->dsn()), new RedisStore($second->dsn())], new UnanimousStrategy()),
    PostgreSqlStore::class => fn () => $postgresql->store(),
    MysqlStore::class => fn () => $mysql->store(),
    PdoStore::class => fn () => new PdoStore($postgresql->server->pdoDsn() . ';user=latch;password=' . Latch\Tests\SqlServer::PASSWORD),
];

/** @param array<string, mixed> $told by StoreFactory::describe(); [] of a store written in PHP */
function prove(PersistingStoreInterface $store, string $case, array $told): void
{
    $factory = new LockFactory($store);
    $shares = $told['shared'] ?? false;
    $names = array_map(fn (string $name) => "multi $name " . getmypid(), ['a', 'b', 'c']);
    [$a, $b, $c] = $names;
    $all = implode(' ', $names);
    $multi = $factory->createMultiLock([$c, $a, $b]);
    $free = fn () => free_ones($store, $a, $b, $c);
    check(!$multi->isHeld() && !$multi->isAcquired(), "$case: new");

    foreach ($names as $taken) {
        $other = $factory->createLock($taken);
        check($other->acquire(), "$case: another holder");
        $rest = implode(' ', array_diff($names, [$taken]));
        check_same(false, $multi->acquire(), "$case: one of three is taken");
        check_same($rest, $free(), "$case: none is taken then");
        foreach ([0, 0.15] as $timeout) {
            $begun = hrtime(true);
            check_same(false, $multi->acquire(true, $timeout), "$case: until the time-out");
            $waited = (hrtime(true) - $begun) / 1e9;
            check($waited >= $timeout && $waited < $timeout + PATIENCE / 4, "$case: it waited $waited s");
            check_same($rest, $free(), "$case: nor at its end");
        }
        check(!$multi->isHeld() && !$multi->isAcquired() && $other->isAcquired(), "$case: not held");
        $other->release();
    }

    foreach ([[], [true], [true, 5]] as $arguments) {
        check($multi->acquire(...$arguments), "$case: all are free");
        check($multi->isHeld() && $multi->isAcquired(), "$case: held");
        check_same('', $free(), "$case: all are taken");
        check($multi->acquire(...$arguments) && $multi->isHeld(), "$case: acquired again");
        $multi->refresh(200);
        if ($told['expiring'] ?? true) {
            check(abs($multi->getRemainingLifetime() - 200) < 20, "$case: refreshed");
        }
        $multi->release();
        check(!$multi->isHeld() && !$multi->isAcquired(), "$case: released");
        check_same($all, $free(), "$case: all are free again");
    }

    /* Readers and writers. */
    $mixed = $factory->createMultiLock([$a => 'read', $b => 'write', $c => 'read']);
    $reader = $factory->createLock($a);
    check($mixed->acquire(), "$case: mixed");
    check_same($shares, $reader->acquireRead(), "$case: a reader beside it");
    check_same(false, $factory->createLock($b)->acquireRead(), "$case: beside the writer");
    check_same('', $free(), "$case: no writer beside it");
    $mixed->release();
    check_same($shares ? "$b $c" : $all, $free(), "$case: the reader remains");
    if ($shares) {
        check($mixed->acquire(), "$case: mixed, beside the reader");
        check(!$multi->acquire() && $multi->acquireRead() === false, "$case: all, beside them");
        $mixed->release();
        check($multi->acquireRead() && $multi->isHeld(), "$case: all for reading");
        check(!$multi->acquire() && $multi->isHeld(), "$case: a refused promotion keeps the shared locks");
        check($factory->createLock($b)->acquireRead(), "$case: of all");
        $reader->release();
        check($multi->acquire(), "$case: promoted");
        check(!$factory->createLock($c)->acquireRead(), "$case: to exclusive ones");
        check($multi->acquireRead() && $factory->createLock($c)->acquireRead(), "$case: demoted");
        $multi->release();
    }
    $reader->release();
    check_same($all, $free(), "$case: free in the end");
    check($multi->acquire(), "$case: held by an object");
    $multi = null;
    check_same($all, $free(), "$case: that is gone");
}

foreach (StoreFactory::describe() as $told) {
    $class = $told['class'];
    if (!$told['native'] || $class === NullStore::class || !str_starts_with($told['build'], 'yes')) {
        continue;
    }
    if (isset($makers[$class])) {
        // what a CombinedStore can do is what its members can
        prove($makers[$class](), $class, $class === CombinedStore::class ? ['shared' => true, 'expiring' => true] : $told);
    } elseif (!str_starts_with($class, 'Latch\\Store\\DoctrineDbal')) { // which are those of another class, on a connection of Doctrine's
        echo "BROKEN: no maker for $class\n";
    }
}
prove(new RecordingStore(temporary_directory()), 'written in PHP', []);
prove(
    new CombinedStore([new RedisStore($redis->dsn()), $php = new RecordingStore(temporary_directory())], new UnanimousStrategy()),
    'a quorum with a member in PHP',
    []
);

$null = multi_lock(new NullStore(), ['a', 'b']);
check($null->acquire() && $null->acquire(true) && !$null->isHeld(), 'NullStore');
$null->release();
foreach ([$redis, $second] as $server) {
    $server->command('EVAL', "for _, key in ipairs(redis.call('KEYS', 'multi *')) do error(key) end return 1", 0);
    check_same([], $server->command('KEYS', 'multi *'), 'keys that are left');
}
echo "done\n";
--EXPECT--
done
