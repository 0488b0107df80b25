--TEST--
MultiLock::synchronized() holds all members during the callback, restores what was there, and tells of a loss
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\Exception\LockExpiredException;
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (['Redis' => new RedisStore($server->dsn()), 'PHP' => new RecordingStore(temporary_directory())] as $case => $store) {
    $multi = multi_lock($store, ['a', 'b']);
    $free = fn () => free_ones($store, 'a', 'b');
    check_same([1, ''], $multi->synchronized(fn () => [1, $free()]), "$case: the result");
    check_same('a b', $free(), "$case: released");
    check_same('DomainException: thrown', outcome(fn () => $multi->synchronized(fn () => throw new DomainException('thrown'))), "$case: what is thrown");
    check_same('a b', $free(), "$case: released after that");

    check($multi->acquire(), "$case: held before");
    check_same('', $multi->synchronized($free), "$case: during the call");
    check_same('DomainException: thrown', outcome(fn () => $multi->synchronized(fn () => throw new DomainException('thrown'))), "$case: what is thrown");
    check($multi->isHeld() && $free() === '', "$case: and after it");
    $multi->release();

    $other = multi_lock($store, ['b']);
    $other->acquire();
    check_same(
        'Latch\Exception\LockConflictedException: The multi-lock of "a" and 1 more was not free within 0.1 seconds.',
        outcome(fn () => $multi->synchronized(fn () => check(false, 'called'), 0.1)),
        "$case: one is taken"
    );
    check_same('a', $free(), "$case: nothing is taken");
    $other->release();
}

/* Held for reading before: promoted for the call, and demoted again. */
$store = new RedisStore($server->dsn());
$multi = multi_lock($store, ['a', 'b']);
$reader = multi_lock($store, ['b' => 'read']);
foreach ([fn () => null, fn () => throw new DomainException('thrown')] as $end) {
    check($multi->acquireRead(), 'held for reading');
    outcome(fn () => $multi->synchronized(function () use ($reader, $end) {
        check(!$reader->acquire(), 'promoted during the call');
        $end();
    }));
    check($multi->isHeld() && $reader->acquire(), 'demoted after it');
    $reader->release();
    $multi->release();
}

/* A loss. */
$short = multi_lock($store, ['a', 'b'], 0.2);
try {
    $short->synchronized(function () {
        usleep(300000);
        return 'the result';
    });
    check(false, 'no exception');
} catch (LockExpiredException $e) {
    check_same('the result', $e->getResult(), 'the result');
    check(str_starts_with($e->getMessage(), 'The multi-lock of "a" and 1 more was lost before'), $e->getMessage());
}
check_same('a b', free_ones($store, 'a', 'b'), 'free after it');
echo "done\n";
--EXPECT--
done
