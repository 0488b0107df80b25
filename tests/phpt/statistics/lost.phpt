--TEST--
A lock that this process held and finds gone is counted, once
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\{Key, Lock};
use Latch\Exception\{LockAcquiringException, LockConflictedException, LockExpiredException};
use Latch\Store\{FlockStore, InMemoryStore, NullStore, SemaphoreStore, SharedMemoryStore};

class Losing extends RecordingStore
{
    public bool $exists = true;
    public float $lifetime = 300;
    public ?string $refusal = null;

    public function save(Key $key): void
    {
        $key->reduceLifetime($this->lifetime);
    }

    public function delete(Key $key): void
    {
        $this->exists = false;
    }

    public function exists(Key $key): bool
    {
        return $this->exists;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        if ($this->refusal !== null) {
            throw new $this->refusal();
        }
        $key->reduceLifetime($this->lifetime);
    }
}

$directory = temporary_directory();
$take = function () use ($directory): array {
    $store = new Losing($directory);
    $lock = new Lock(new Key('a'), $store, 300.0);
    $lock->acquire();
    return [$lock, $store];
};

[$lock, $store] = $take();
$store->exists = false;
check_same(['lost' => 1], counted(fn () => $lock->isAcquired()), 'isAcquired() finds it gone');
check_same([], counted(fn () => $lock->isAcquired()), 'which is known now');
unset($lock);

[$lock, $store] = $take();
$store->exists = false;
check_same(['lost' => 1], counted(function () use (&$lock) {
    $lock = null;
}), 'the destructor finds it gone');

[$lock, $store] = $take();
$store->refusal = LockConflictedException::class;
check_same(
    ['lost' => 1],
    counted_with(LockConflictedException::class, fn () => $lock->refresh()),
    'refresh() finds it with somebody else'
);

[$lock, $store] = $take();
$store->refusal = LockExpiredException::class;
check_same(
    ['lost' => 1],
    counted_with(LockAcquiringException::class, fn () => $lock->refresh()),
    'refresh() finds it expired'
);
$store->exists = false;

[$lock, $store] = $take();
$store->lifetime = -1;
check_same(
    ['lost' => 1],
    counted_with(LockAcquiringException::class, fn () => $lock->refresh()),
    'it expired while it was refreshed'
);

$store = new Losing($directory);
$store->lifetime = -1;
$lock = new Lock(new Key('a'), $store);
check_same(
    ['acquired' => 1, 'lost' => 1],
    counted_with(LockAcquiringException::class, fn () => $lock->acquire()),
    'it expired while it was acquired'
);

/* What nobody holds, nobody loses. */
$store = new Losing($directory);
$store->exists = false;
$store->refusal = LockConflictedException::class;
$lock = new Lock(new Key('a'), $store, 300.0);
check_same([], counted(fn () => $lock->isAcquired()), 'never acquired');
check_same(
    [],
    counted_with(LockConflictedException::class, fn () => $lock->refresh()),
    'refresh() of what was never acquired'
);
[$lock, $store] = $take();
check_same([], counted(fn () => $lock->release()), 'released');
check_same([], counted(fn () => $lock->isAcquired()), 'after the release');

foreach (['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'null' => new NullStore()]
    as $name => $store) {
    $lock = new Lock($key = new Key('a'), $store, 300.0);
    $copy = new Lock($key, $store, 300.0);
    check_same(['acquired' => 1], counted(function () use ($lock, $copy) {
        $lock->acquire();
        $lock->isAcquired();
        $lock->refresh();
        $copy->release();
        $lock->isAcquired();
    }), "$name: released through another Lock of the same key");
    check_same(['acquired' => 1], counted(function () use ($store, $key) {
        $store->save($key);
        $store->exists($key);
        $store->delete($key);
        $store->exists($key);
    }), "$name: by hand");
}

/* A set of semaphores that was removed under its holder. */
$resource = "latch phpt $directory";
$remove = function () use ($resource) {
    $number = unpack('i', hash('xxh128', $resource, true))[1];
    preg_match("/^ *$number +(\\d+) /m", file_get_contents('/proc/sysvipc/sem'), $match);
    exec("ipcrm -s $match[1]");
};
$lock = new Lock(new Key($resource), new SemaphoreStore());
$lock->acquire();
$remove();
check_same(['lost' => 1], counted(fn () => check(!$lock->isAcquired(), 'gone')), 'semaphore');
check_same([], counted(fn () => $lock->isAcquired()), 'semaphore, which is known now');
$store = new SemaphoreStore();
$store->save($key = new Key($resource));
$remove();
check_same(['lost' => 1], counted(fn () => $store->exists($key)), 'semaphore, by hand');
check_same([], counted(fn () => $store->exists($key)), 'semaphore, by hand, which is known now');

/* A lock in shared memory that was taken away. */
$store = new SharedMemoryStore("$directory/memory", 100);
$lock = new Lock(new Key('r'), $store);
$take = fn () => $store->forceRelease(new Key('r'), array_column($store->inspect(new Key('r'))['holders'], 'id'));
$lock->acquire();
check_same(1, $take(), 'taken away');
check_same(['lost' => 1], counted(fn () => check(!$lock->isAcquired(), 'gone')), 'shared memory');
check_same([], counted(fn () => $lock->isAcquired()), 'shared memory, which is known now');
$store->save($key = new Key('r'));
check_same(1, $take(), 'taken away again');
check_same(['lost' => 1], counted(fn () => $store->exists($key)), 'shared memory, by hand');
check_same([], counted(fn () => $store->exists($key)), 'shared memory, by hand, which is known now');

/* A child does not hold its parent's locks, so that it does not lose them. */
$locks = [new Lock(new Key('b'), new FlockStore($directory)), new Lock(new Key('b'), $php = new Losing($directory)),
    new Lock(new Key("$resource of the parent"), new SemaphoreStore()), new Lock(new Key('of the parent'), $store)];
foreach ($locks as $lock) {
    $lock->acquire();
}
$child = fork(function (ParentLine $parent) use ($locks, $php) {
    $php->exists = false;
    $parent->say(json_encode(counted(function () use ($locks) {
        foreach ($locks as $lock) {
            $lock->isAcquired();
        }
    })));
    return 0;
});
check_same('[]', $child->hear(), 'in a child');
$child->ending();
echo "done\n";
--EXPECT--
done
