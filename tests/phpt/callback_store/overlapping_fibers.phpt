--TEST--
Fibers that overlap in the methods of a PHP-written store leave nothing behind, in whatever order they end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\{Key, Lock, PersistingStoreInterface};
use Latch\Store\FlockStore;

/** Wraps a store of Latch's, and suspends its fiber in the middle of a method, once. */
class SuspendingStore implements PersistingStoreInterface
{
    public function __construct(public PersistingStoreInterface $inner, public string $where)
    {
    }

    private function step(string $step): void
    {
        if ($step === $this->where && Fiber::getCurrent() !== null) {
            $this->where = 'once is enough';
            Fiber::suspend();
        }
    }

    public function save(Key $key): void
    {
        $this->step('before save');
        $this->inner->save($key);
        $this->step('after save');
    }

    public function delete(Key $key): void
    {
        $this->step('before delete');
        $this->inner->delete($key);
        $this->step('after delete');
    }

    public function exists(Key $key): bool
    {
        $this->step('before exists');
        return $this->inner->exists($key);
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->step('before putOffExpiration');
        $this->inner->putOffExpiration($key, $ttl);
    }
}

$directory = temporary_directory();

/** Whether a lock that is taken now by hand is counted, and stays with a forked child when this process lets go. */
function check_state(string $when): void
{
    global $directory;
    $store = new FlockStore($directory);
    $key = new Key('by hand');
    check_same(1, counted(fn () => $store->save($key))['acquired'] ?? 0, "$when: counted");
    $child = fork(function (ParentLine $parent) use ($store, $key) {
        $parent->hear_exactly('look');
        $parent->say($store->exists($key) ? 'inherited' : 'not inherited');
        $store->delete($key);
        return 0;
    });
    $child->say('look');
    check_same('inherited', $child->hear(), $when);
    check_same('exit 0', $child->ending(), $when);
    $store->delete($key);
}

check_state('at first');
foreach (['before save', 'after save', 'before exists', 'before delete', 'after delete', 'before putOffExpiration'] as $where) {
    foreach (['first in, first out', 'last in, first out', 'never resumed', 'thrown into'] as $order) {
        $fibers = [];
        foreach (['a', 'b', 'c'] as $at => $name) {
            $fibers[$name] = new Fiber(function () use ($directory, $where, $name, $at) {
                $store = new SuspendingStore(new FlockStore($directory), $where);
                $lock = new Lock(new Key($name), $store, 60, $at % 2 === 0);
                try {
                    $lock->acquire();
                    $lock->isAcquired();
                    $lock->release();
                } catch (DomainException | Latch\Exception\ExceptionInterface) {
                }
            });
            $fibers[$name]->start();
            check_state("$where, $order: $name is suspended");
        }
        if ($order === 'last in, first out') {
            $fibers = array_reverse($fibers);
        }
        if ($order === 'never resumed') {
            $fibers = [];
            gc_collect_cycles();
        }
        $exception = new DomainException();
        while ($fibers !== []) {
            foreach ($fibers as $name => $fiber) {
                if ($fiber->isTerminated()) {
                    unset($fibers[$name]);
                } elseif ($order === 'thrown into' && $exception !== null) {
                    $fiber->throw($exception);
                } else {
                    $fiber->resume();
                }
                check_state("$where, $order: $name was resumed");
            }
        }
        unset($fiber);
        gc_collect_cycles();
        check_state("$where, $order: at the end");
    }
}

/* A fiber that a method starts is part of it while the method waits for it. */
class StartingStore extends SuspendingStore
{
    public function save(Key $key): void
    {
        $fiber = new Fiber(fn () => parent::save($key));
        $fiber->start();
        while (!$fiber->isTerminated()) {
            $fiber->resume();
        }
    }
}
$lock = new Lock(new Key('started'), new StartingStore(new FlockStore($directory), 'before save'));
check_same(1, counted(fn () => $lock->acquire())['acquired'], 'one lock, in whatever fiber');
check_state('after a fiber of the method');
echo "done\n";
--EXPECT--
done
