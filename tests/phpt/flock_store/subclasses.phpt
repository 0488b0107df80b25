--TEST--
Subclasses of our stores: constructor not called, methods overridden, overriding nothing
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

trait Overriding
{
    public array $calls = [];

    public function save(Key $key): void
    {
        $this->calls[] = 'save';
        parent::save($key);
    }

    public function delete(Key $key): void
    {
        $this->calls[] = 'delete';
        parent::delete($key);
    }

    public function exists(Key $key): bool
    {
        $this->calls[] = 'exists';
        return parent::exists($key);
    }
}

class Plain extends FlockStore
{
    public int $more = 1;
}

class WithoutParent extends FlockStore
{
    public function __construct()
    {
    }
}

class WithoutParentOverriding extends FlockStore
{
    public function __construct()
    {
    }

    public function save(Key $key): void
    {
    }
}

class OverridingFlock extends FlockStore
{
    use Overriding;
}

class OverridingMemory extends InMemoryStore
{
    use Overriding;
}

$directory = temporary_directory();
$lock = new Lock(new Key('a'), new Plain($directory));
check($lock->acquire() && !is_free($directory, 'a'), 'a plain subclass');
unset($lock);

foreach ([new WithoutParent(), new WithoutParentOverriding()] as $store) {
    foreach ([
        'acquire' => fn () => (new Lock(new Key('a'), $store))->acquire(),
        'acquire and wait' => fn () => (new Lock(new Key('a'), $store))->acquire(true),
        'acquireRead' => fn () => (new Lock(new Key('a'), $store, 10))->acquireRead(),
        'synchronized' => fn () => (new Lock(new Key('a'), $store))->synchronized(fn () => check(false, 'called')),
        'release' => fn () => (new Lock(new Key('a'), $store))->release(),
        'isAcquired' => fn () => (new Lock(new Key('a'), $store))->isAcquired(),
        'refresh' => fn () => (new Lock(new Key('a'), $store))->refresh(5),
        'delete' => fn () => $store->delete(new Key('a')),
        'exists' => fn () => $store->exists(new Key('a')),
        'saveRead' => fn () => $store->saveRead(new Key('a')),
    ] as $name => $call) {
        $outcome = outcome($call);
        check(str_starts_with($outcome, 'Error: ') && str_contains($outcome, '__construct()'), get_class($store) . "::$name: $outcome");
    }
    check(!(new Lock(new Key('a'), $store))->isHeld(), 'isHeld()');
    print_r(new Lock(new Key('a'), $store), true);
}

foreach ([new OverridingFlock($directory), new OverridingMemory()] as $store) {
    $name = get_class($store);
    $lock = new Lock($key = new Key('b'), $store);
    check($lock->acquire() && $lock->isHeld() && $lock->isAcquired(), "$name: acquired");
    check(!(new Lock(new Key('b'), $store))->acquire(), "$name: excludes");
    $lock->release();
    check(!$lock->isHeld() && !$lock->isAcquired(), "$name: released");
    check_same(['save', 'exists', 'save', 'delete', 'exists', 'exists'], $store->calls, "$name: the calls");
    $lock->acquire();
    check($lock->acquireRead(), "$name: demoted");
    check((new Lock(new Key('b'), $store))->acquireRead(), "$name: readers");
    unset($lock);
    check((new Lock(new Key('b'), $store))->acquire(), "$name: free");
    $lock = new Lock($key, $store);
    check($lock->acquire(true, 1) && $lock->isHeld(), "$name: waits");
    unset($lock);
}
$anonymous = new class ($directory, true) extends FlockStore {
};
check((new Lock(new Key('c'), $anonymous))->acquire(), 'an anonymous class');
echo "done\n";
--EXPECT--
done
