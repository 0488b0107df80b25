--TEST--
Every acquire that succeeds is counted, and every one that ends because somebody else has the lock
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\{Key, Lock, PersistingStoreInterface};
use Latch\Exception\{LockAcquiringException, LockConflictedException};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

check_same(
    ['acquired' => 0, 'conflicts' => 0, 'waits' => 0, 'waitSeconds' => 0.0, 'releasedAtShutdown' => 0, 'lost' => 0],
    Lock::getStatistics(),
    'at the beginning'
);

$directory = temporary_directory();
foreach ([
    'flock' => new FlockStore($directory),
    'in memory' => new InMemoryStore(),
    'written in PHP' => new RecordingStore(temporary_directory()),
] as $name => $store) {
    $lock = new Lock(new Key('a'), $store, 300.0);
    $other = new Lock(new Key('a'), $store, 300.0);
    check_same(['acquired' => 1], counted(fn () => $lock->acquire()), "$name: acquire()");
    check_same(['acquired' => 1], counted(fn () => $lock->acquire()), "$name: acquire() of what is held");
    check_same(['conflicts' => 1], counted(fn () => $other->acquire()), "$name: a try in vain");
    check_same(['conflicts' => 1], counted(fn () => $other->acquireRead()), "$name: a try to read in vain");
    check_same([], counted(function () use ($lock) {
        $lock->refresh();
        $lock->isAcquired();
        $lock->isHeld();
        $lock->release();
        $lock->release();
        $lock->isAcquired();
    }), "$name: what acquires nothing");
    check_same(['acquired' => 1], counted(fn () => $lock->acquire(true)), "$name: acquire(true) of what is free");
    $lock->release();
    check_same(['acquired' => 2], counted(fn () => $lock->synchronized(
        fn () => $lock->synchronized(fn () => null)
    )), "$name: synchronized()");
    check_same(['acquired' => 1], counted(function () use ($store) {
        $lock = new Lock(new Key('a'), $store);
        $lock->acquire();
    }), "$name: released by the destructor");
}

/* Promotion and demotion. */
$store = new InMemoryStore();
[$one, $two] = [new Lock(new Key('a'), $store), new Lock(new Key('a'), $store)];
check_same(['acquired' => 2], counted(fn () => $one->acquireRead() && $two->acquireRead()), 'two readers');
check_same(['conflicts' => 1], counted(fn () => $one->acquire()), 'a promotion in vain');
$two->release();
check_same(['acquired' => 2], counted(fn () => $one->acquire() && $one->acquireRead()), 'promoted, demoted');

/* A wait that is refused is an error, no conflict. */
check_same([], counted_with(LockAcquiringException::class, fn () => $two->acquire(true)), 'a deadlock');
$null = new Lock(new Key('a'), new NullStore());
check_same(['acquired' => 1], counted(fn () => $null->acquire() && $null->isAcquired()), 'NullStore');

/* A store's methods, called by hand. */
$store = new InMemoryStore();
$key = new Key('c');
check_same(['acquired' => 2], counted(function () use ($store, $key) {
    $store->saveRead($key);
    $store->save($key);
}), 'by hand');
check_same(
    ['conflicts' => 1],
    counted_with(LockConflictedException::class, fn () => $store->save(new Key('c'))),
    'a conflict by hand'
);

/* One lock for the user is one acquire, whatever his store makes of it. */
class BothStores implements PersistingStoreInterface
{
    public function __construct(private PersistingStoreInterface $one, private PersistingStoreInterface $two)
    {
    }

    public function save(Key $key): void
    {
        $this->one->save($key);
        $this->two->save($key);
    }

    public function delete(Key $key): void
    {
        $this->one->delete($key);
        $this->two->delete($key);
    }

    public function exists(Key $key): bool
    {
        return $this->one->exists($key) && $this->two->exists($key);
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->one->putOffExpiration($key, $ttl);
        $this->two->putOffExpiration($key, $ttl);
    }
}

class NamedStore extends FlockStore
{
    public function save(Key $key): void
    {
        parent::save($key);
    }
}

foreach ([
    'a store of two' => new BothStores(new FlockStore($directory), new InMemoryStore()),
    'a subclass' => new NamedStore($directory),
] as $name => $store) {
    $lock = new Lock(new Key('both'), $store, 300.0);
    $other = new Lock(new Key('both'), $store);
    check_same(['acquired' => 1], counted(fn () => $lock->acquire()), $name);
    check_same(['conflicts' => 1], counted(fn () => $other->acquire()), "$name: conflict");
    check_same([], counted(fn () => $lock->isAcquired()), "$name: isAcquired()");
    $lock->release();
}

/* A store that fails has neither given nor refused the lock. */
class BrokenStore extends RecordingStore
{
    public function save(Key $key): void
    {
        throw new RuntimeException('broken');
    }
}
$broken = new Lock(new Key('a'), new BrokenStore($directory));
check_same([], counted_with(LockAcquiringException::class, fn () => $broken->acquire()), 'a broken store');
echo "done\n";
--EXPECT--
done
