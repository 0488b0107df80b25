--TEST--
CombinedStore's constructor: a list of members that is empty; a destructor that calls it again
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Store\{CombinedStore, InMemoryStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};

foreach ([new ConsensusStrategy(), new UnanimousStrategy()] as $strategy) {
    echo outcome(fn () => new CombinedStore([], $strategy)), "\n";
}

/** Constructs the store in its destructor. */
class Again
{
    public function __construct(private CombinedStore $store, private InMemoryStore $member)
    {
    }

    public function __destruct()
    {
        echo 'again: ', outcome(fn () => $this->store->__construct([$this->member], new UnanimousStrategy())), "\n";
    }
}

$store = (new ReflectionClass(CombinedStore::class))->newInstanceWithoutConstructor();
$inner = new InMemoryStore();
$outer = new InMemoryStore();
echo preg_replace('/ Got.*/', '', outcome(fn () => $store->__construct([new Again($store, $inner)], new ConsensusStrategy()))), "\n";
$store->__construct([$outer], new ConsensusStrategy());

/* It holds on to the members that it was constructed with, and to them only as long as it lives. */
$key = new Latch\Key('r');
$store->save($key);
check($outer->exists($key) && !$inner->exists($key), 'it locks in its member');
$store->delete($key);
unset($store, $key);
gc_collect_cycles();
foreach (['inner' => WeakReference::create($inner), 'outer' => WeakReference::create($outer)] as $name => $reference) {
    unset($$name);
    check($reference->get() === null, "the $name member has gone");
}
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: Latch\Store\CombinedStore::__construct(): Argument #1 ($stores) must not be empty; pass at least one store to hold the lock in
Latch\Exception\InvalidArgumentException: Latch\Store\CombinedStore::__construct(): Argument #1 ($stores) must not be empty; pass at least one store to hold the lock in
Latch\Exception\InvalidArgumentException: The store must implement "Latch\PersistingStoreInterface".
again: Error: Latch\Store\CombinedStore is constructed already
done
