--TEST--
Cycles through combined stores, their members, strategies, loggers and keys are collected
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore};
use Latch\Strategy\{ConsensusStrategy, StrategyInterface, UnanimousStrategy};

class CyclicMember extends RecordingStore
{
    public mixed $whole = null;
    public array $seen = [];

    public function save(Key $key): void
    {
        $this->seen[] = $key; // key -> lease -> store -> key
        parent::save($key);
    }
}

class FailingMember extends CyclicMember
{
    public function save(Key $key): void
    {
        throw new RuntimeException('its trace has the key'); // key -> lease -> exception -> key
    }

    public function delete(Key $key): void
    {
        throw new RuntimeException('its trace has the key');
    }
}

class CyclicStrategy implements StrategyInterface
{
    public mixed $whole = null;

    public function isMet(int $numberOfSuccess, int $numberOfItems): bool
    {
        return $numberOfSuccess > 1;
    }

    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool
    {
        return true;
    }
}

class CyclicLogger extends Logger
{
    public mixed $more;
}

class CyclicCombinedStore extends CombinedStore
{
    public mixed $self = null;
}

$directory = temporary_directory();
$gone = [];
$remember = function (object ...$objects) use (&$gone) {
    foreach ($objects as $object) {
        $gone[] = [get_class($object), WeakReference::create($object)];
    }
};
$make = function (bool $dynamic, bool $keep) use ($directory, $remember) {
    $members = [new CyclicMember($directory), new InMemoryStore(), new FlockStore($directory), new FailingMember($directory)];
    $inner = new CombinedStore([$members[1], $members[2]], new UnanimousStrategy());
    foreach ([new CyclicStrategy(), new ConsensusStrategy()] as $strategy) {
        $store = new CyclicCombinedStore([$members[0], $inner, $members[3], $members[1]], $strategy);
        $store->self = $store;
        if ($dynamic) {
            @$store->another = $store;
        }
        $store->setLogger($logger = new CyclicLogger());
        $logger->more = $store;
        if ($strategy instanceof CyclicStrategy) {
            $strategy->whole = $store;
        }
        $members[0]->whole = $members[3]->whole = $store;
        $key = new Key("a $keep");
        $lock = new Lock($key, $store, 60);
        $lock->acquire();
        $key->setState('self', [$key, $lock, $store]);
        if ($keep) {
            $remember($store, $strategy, $logger, $key, $lock);
        }
        $lock->release();
    }
    if ($keep) {
        $remember($inner, ...$members);
    }
};
$make(false, true);
$make(true, true);
gc_collect_cycles();
gc_collect_cycles();
foreach ($gone as $at => [$class, $reference]) {
    check($reference->get() === null, "object $at, a $class, is collected");
}
/* Again and again: no growth. */
$round = function () use ($make) {
    for ($i = 0; $i < 50; $i++) {
        $make($i % 2 === 0, false);
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
