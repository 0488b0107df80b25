--TEST--
Cycles of stores, keys, locks and loggers are collected
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Store\{FlockStore, InMemoryStore};

class Cyclic extends RecordingStore
{
    public array $seen = [];

    public function save(Key $key): void
    {
        $this->seen[] = $key; // key -> lease -> store -> key
        parent::save($key);
    }
}

class CyclicFlock extends FlockStore
{
    public array $seen = [];

    public function save(Key $key): void
    {
        $this->seen[] = $key;
        parent::save($key);
    }
}

class CyclicLogger extends Logger
{
    public mixed $more;
}

$directory = temporary_directory();
$gone = [];
$remember = function (object ...$objects) use (&$gone) {
    foreach ($objects as $object) {
        $gone[] = [get_class($object), WeakReference::create($object)];
    }
};
(function () use ($directory, $remember) {
    foreach ([new Cyclic($directory), new CyclicFlock($directory)] as $store) {
        $key = new Key('a');
        $lock = new Lock($key, $store, 60);
        $lock->setLogger($logger = new CyclicLogger());
        $logger->more = [$lock, $key];
        $lock->acquire();
        $key->setState('self', [$key, $lock, $store]);
        $remember($store, $key, $lock, $logger);
    }
    /* One key with leases in many stores. */
    $key = new Key('b');
    foreach ([new Cyclic($directory), new InMemoryStore(), new FlockStore($directory), new Cyclic("$directory/.")] as $store) {
        $lock = new Lock($key, $store, null, false);
        $lock->acquire();
        $key->setState('lock ' . spl_object_id($lock), $lock);
        $remember($store, $lock);
    }
    $remember($key);
    $factory = new LockFactory(new Cyclic($directory));
    $factory->setLogger($logger = new CyclicLogger());
    $logger->more = $factory;
    $remember($factory, $logger);
    /* A clone shares the lease. */
    $key = new Key('c');
    $lock = new Lock($key, $store = new Cyclic($directory));
    $lock->acquire();
    $clone = clone $key;
    $key->setState('clone', $clone);
    $clone->setState('original', $key);
    $remember($key, $clone, $store);
})();
gc_collect_cycles();
gc_collect_cycles();
foreach ($gone as $at => [$class, $reference]) {
    check($reference->get() === null, "object $at, a $class, is collected");
}
/* Again and again: no growth. */
$round = function () use ($directory) {
    for ($i = 0; $i < 100; $i++) {
        $store = new Cyclic($directory);
        $key = new Key('d');
        $lock = new Lock($key, $store);
        $lock->acquire();
        $key->setState('self', $lock);
        unset($lock, $key, $store);
    }
    gc_collect_cycles();
    return memory_get_usage();
};
$round();
$round();
$before = $round();
$round();
check($round() - $before < 10000, 'no growth: ' . ($round() - $before));
echo "done\n";
--EXPECT--
done
