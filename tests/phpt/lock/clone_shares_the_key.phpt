--TEST--
A clone of a lock shares its key: both have the lock, the last one of them to end releases it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

$directory = temporary_directory();
$php = new RecordingStore($directory);
foreach ([new FlockStore($directory), new InMemoryStore(), $php] as $store) {
    foreach ([null, 60.0] as $ttl) {
        $name = get_class($store) . ', TTL ' . json_encode($ttl);
        $others = fn (): bool => (new Lock(new Key('a'), $store))->acquire();

        $lock = new Lock(new Key('a'), $store, $ttl);
        $lock->acquire();
        $clone = clone $lock;
        check($clone->isAcquired() && $clone->isHeld() && $clone->acquire(), "$name: the clone has it");
        check(!$others(), "$name: nobody else has");
        unset($clone);
        check($lock->isAcquired() && $lock->isHeld() && !$others(), "$name: the clone's end leaves it");
        $clone = clone $lock;
        $third = clone $clone;
        unset($lock);
        check($clone->isHeld() && $third->isHeld() && !$others(), "$name: and so does the original's");
        unset($clone);
        check($third->isAcquired() && !$others(), "$name: one is left");
        unset($third);
        check($others(), "$name: the last one's end releases it");

        /* Any of them releases by hand. */
        $lock = new Lock(new Key('a'), $store, $ttl);
        $lock->acquire();
        $clone = clone $lock;
        $clone->release();
        check(!$lock->isAcquired() && !$lock->isHeld() && $others(), "$name: released for the original, too");
        check($lock->acquire() && !$others(), "$name: and acquired anew");
        unset($clone);
        check(!$others(), "$name: a clone that has released has no part in that");
        unset($lock);
        check($others(), "$name: free");

        /* A clone that has not acquired, and does not know of it, has no part in it either. */
        $lock = new Lock(new Key('a'), $store, $ttl);
        $clone = clone $lock;
        $lock->acquire();
        unset($clone);
        check($lock->isAcquired(), "$name: a clone from before the acquire releases nothing");
        $clone = clone $lock;
        $lock->release();
        check(!$clone->isAcquired(), "$name: released for the clone, too");
        $lock->acquire();
        unset($lock);
        check($others(), "$name: and what it does not know of, it does not keep");
        $lock = clone $clone;
        $lock->acquire();
        check($clone->isAcquired(), "$name: now it knows");
        unset($lock);
        check(!$others(), "$name: and keeps it");
        unset($clone);
        check($others(), "$name: free");

        /* Two Locks on one key are not one another's clones: the first to end releases, as Symfony's. */
        $lock = new Lock($key = new Key('a'), $store, $ttl);
        $lock->acquire();
        $other = new Lock($key, $store, $ttl);
        $other->acquire();
        unset($other);
        check(!$lock->isAcquired(), "$name: a second Lock on the key");
        unset($lock, $key);

        /* A destructor that is called by hand counts as an end. */
        $lock = new Lock(new Key('a'), $store, $ttl);
        $lock->acquire();
        $clone = clone $lock;
        $lock->__destruct();
        $lock->__destruct();
        check(!$others() && $clone->isHeld(), "$name: destructed by hand");
        unset($clone);
        check($others(), "$name: once is enough");
        unset($lock);

        /* One release is logged, and asked of the store. */
        $lock = new Lock(new Key('a'), $store, $ttl);
        $lock->setLogger($logger = new Logger());
        $lock->acquire();
        $clones = array_map(fn () => clone $lock, range(1, 5));
        $logger->take();
        $php->forget_calls();
        unset($lock, $clones);
        check_same(['debug: Successfully released the "<a>" lock.'], $logger->take(), "$name: one line");
        check($store !== $php || $php->count_calls('delete') === 1, "$name: one call");

        /* In a cycle. */
        $lock = new Lock(new Key('a'), $store, $ttl);
        $lock->acquire();
        $cycle = [clone $lock];
        $cycle[] = &$cycle;
        unset($lock);
        check(!$others(), "$name: held by a cycle");
        unset($cycle);
        gc_collect_cycles();
        check($others(), "$name: which is collected");

        /* Without automatic release none of them does. */
        $lock = new Lock(new Key('a'), $store, $ttl, false);
        $lock->acquire();
        $clone = clone $lock;
        unset($lock);
        check($clone->isAcquired() && !$others(), "$name: kept");
        $clone->release();

        /* In a forked child neither the parent's clones nor its own copies of them release anything, but what
           the child has acquired is its own. */
        $lock = new Lock(new Key('a'), $store, $ttl);
        $lock->acquire();
        $clone = clone $lock;
        $mine = new Lock(new Key('child'), $store, $ttl);
        $copy = clone $mine;
        $child = fork(function (ParentLine $parent) use (&$lock, &$clone, &$mine, &$copy, $store, $name) {
            $more = clone $clone;
            $lock = $clone = $more = null;
            $parent->say('gone');
            $mine->acquire();
            $another = clone $mine;
            $another->isAcquired();
            $mine = null;
            $parent->say((new Lock(new Key('child'), $store))->acquire() ? "BROKEN: $name" : 'held');
            $another = null;
            $parent->say((new Lock(new Key('child'), $store))->acquire() ? 'free' : "BROKEN: $name");
            return 0;
        });
        $child->hear_exactly('gone');
        check($lock->isAcquired(), "$name: the child releases nothing of its parent's");
        $child->hear_exactly('held');
        $child->hear_exactly('free');
        check_same('exit 0', $child->ending(), $name);
        check($lock->isAcquired() && !$others(), "$name: to its end");
        unset($lock);
        check(!$others(), "$name: the parent's clone");
        unset($clone);
        check($others(), "$name: is the last");
    }
}

/* A child that acquires the parent's lock by one of the clones does not leave it to the others. */
$store = new InMemoryStore();
$lock = new Lock(new Key('b'), $store);
$lock->acquire();
$clone = clone $lock;
check_same('exit 0', fork(function () use ($lock, &$clone, $store) {
    $clone->release();
    $clone->acquire();
    $clone = null;
    return (int) !(new Lock(new Key('b'), $store))->acquire();
})->ending(), 'acquired in the child');
unset($clone, $lock);

/* After a fatal error, when no destructor runs, the store is asked once as well. */
$php->forget_calls();
foreach ([new FlockStore($directory), $php] as $store) {
    check_same('exit 255', fork(function () use ($store) {
        $GLOBALS['lock'] = new Lock(new Key('c'), $store);
        $GLOBALS['lock']->acquire();
        $GLOBALS['clones'] = [clone $GLOBALS['lock'], clone $GLOBALS['lock']];
        trigger_error('fatal', E_USER_ERROR);
    })->ending(), 'a fatal error');
    check((new Lock(new Key('c'), $store))->acquire(), 'free after a fatal error');
}
check_same(2, $php->count_calls('delete'), 'by its end, and by that of the look after it');
echo "done\n";
--EXPECT--
done
