--TEST--
A wait for several locks holds nothing, is served in turn, and ends by time-outs and signals with nothing taken
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\LockFactory;
use Latch\Store\{FlockStore, InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

class FromHandler extends Exception
{
}

pcntl_async_signals(true);
$server = new RedisServer();
$store = new RedisStore($server->dsn());
$factory = new LockFactory($store);

/** A process that waits for a, b and c, and says so when it has them; it ends when it is told anything. */
$waiter = function (string $awaited, ?callable $prepare = null, bool $autoRelease = true) use ($server): Child {
    $before = waiters($server, $awaited);
    $child = fork(function (ParentLine $parent) use ($server, $prepare, $autoRelease) {
        $prepare !== null && $prepare();
        $multi = multi_lock(new RedisStore($server->dsn()), ['c', 'b', 'a'], 300.0, $autoRelease);
        $multi->acquire(true);
        $parent->say('held');
        $parent->hear();
        $multi->release();
        return 0;
    });
    wait_until(fn () => waiters($server, $awaited) === $before + 1, "it waits for $awaited");
    return $child;
};

/* It waits for the one that is taken, and the others are free for anybody. */
foreach (['a', 'b', 'c'] as $taken) {
    $other = $factory->createLock($taken);
    $other->acquire();
    $child = $waiter($taken);
    check_same(implode(' ', array_diff(['a', 'b', 'c'], [$taken])), free_ones($store, 'a', 'b', 'c'), "$taken is waited for, and nothing is held");
    $other->release();
    $child->hear_exactly('held');
    check_same('', free_ones($store, 'a', 'b', 'c'), 'all are held');
    $child->say('end');
    check_same('exit 0', $child->ending(), 'ending');
}

/* From one to the next: what it has waited for is given back when another one is taken. */
[$a, $c] = [$factory->createLock('a'), $factory->createLock('c')];
check($a->acquire() && $c->acquire(), 'two are taken');
$child = $waiter('a');
$a->release();
wait_until(fn () => waiters($server, 'c') === 1, 'it waits for the other one');
check_same('a b', free_ones($store, 'a', 'b', 'c'), 'and holds nothing again');
check($a->acquire(), 'which is taken again');
$c->release();
wait_until(fn () => waiters($server, 'a') === 1, 'it waits for the first one again');
check_same('b c', free_ones($store, 'a', 'b', 'c'), 'and holds nothing');
$a->release();
$child->hear_exactly('held');
$child->say('end');
$child->ending();

/* First come, first served, beside plain locks. */
check($a->acquire(), 'taken');
$first = $waiter('a');
$plain = fork(function (ParentLine $parent) use ($server) {
    (new LockFactory(new RedisStore($server->dsn())))->createLock('a')->synchronized(function () use ($parent) {
        $parent->say('held');
        $parent->hear();
    });
    return 0;
});
wait_until(fn () => waiters($server, 'a') === 2, 'a plain lock is behind it');
$a->release();
$first->hear_exactly('held');
check($server->lacks('a') === false, 'held by the first');
$first->say('end');
$plain->hear_exactly('held');
$plain->say('end');
check_same(['exit 0', 'exit 0'], [$first->ending(), $plain->ending()], 'endings');

/* Signals. */
check($a->acquire(), 'taken');
foreach ([true, false] as $autoRelease) {
    foreach ([
        'throws' => ['exit 255', fn () => throw new FromHandler()],
        'exits' => ['exit 3', fn () => exit(3)],
        'fails' => ['exit 255', fn () => @trigger_error('on purpose', E_USER_ERROR)],
    ] as $case => [$ending, $handler]) {
        $child = $waiter('a', function () use ($handler) {
            pcntl_async_signals(true);
            pcntl_signal(SIGUSR1, $handler);
        }, $autoRelease);
        $child->kill(SIGUSR1);
        check_same($ending, $child->ending(), "a handler that $case");
        wait_until(fn () => waiters($server, 'a') === 0, "a handler that $case leaves the queue");
        check_same('b c', free_ones($store, 'a', 'b', 'c'), "a handler that $case leaves nothing taken");
    }
}
$mark = temporary_directory() . '/handled';
$child = $waiter('a', function () use ($mark) {
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, fn () => touch($mark));
});
$child->kill(SIGUSR1);
wait_until(fn () => file_exists($mark), 'a handler runs during the wait');
check_same(1, waiters($server, 'a'), 'and the wait goes on');
$a->release();
$child->hear_exactly('held');
$child->say('end');
$child->ending();

/* In one process: a handler ends the wait, or meddles with what is waited for. */
$memory = new InMemoryStore();
$one = (new LockFactory($memory))->createLock('b');
foreach (['b' => '', 'a' => ''] as $name => $_) {
    $one = (new LockFactory($memory))->createLock($name);
    $multi = multi_lock($memory, ['a', 'b']);
    check($one->acquire(), 'taken');
    pcntl_signal(SIGALRM, fn () => $one->release());
    pcntl_alarm(1);
    check($multi->acquire(true, PATIENCE), 'what a handler releases');
    $multi->release();
    check($one->acquire(), 'taken');
    pcntl_signal(SIGALRM, fn () => throw new FromHandler('in the handler'));
    pcntl_alarm(1);
    check_same('FromHandler: in the handler', outcome(fn () => $multi->acquire(true, PATIENCE)), 'a handler that throws');
    check(!$multi->isHeld() && free_ones($memory, 'a', 'b') === ($name === 'a' ? 'b' : 'a'), 'nothing is taken');
    $said = [];
    pcntl_signal(SIGALRM, function () use ($multi, $one, &$said) {
        foreach (['acquire', 'acquireRead', 'release', 'refresh', 'isAcquired'] as $method) {
            $said[] = outcome($multi->$method(...));
        }
        $said[] = $multi->isHeld();
        $one->release();
    });
    pcntl_alarm(1);
    check($multi->acquire(true, PATIENCE) && $multi->isHeld(), 'a handler that uses the waiting object');
    $busy = 'Latch\Exception\LockAcquiringException: The multi-lock of "a" and 1 more is busy: another operation on it has not ended yet.';
    check_same([$busy, $busy, $busy, $busy, $busy, false], $said, 'what it is told');
    $multi->release();
}

/* A wait for oneself. */
$directory = temporary_directory();
foreach (['memory' => $memory, 'flock' => new FlockStore($directory), 'Redis' => $store] as $case => $place) {
    foreach (['a', 'b', 'c'] as $name) {
        $own = (new LockFactory($place))->createLock($name);
        check($own->acquire(), "$case: held by this thread");
        $multi = multi_lock($place, ['a', 'b', 'c']);
        $said = outcome(fn () => $multi->acquire(true));
        check(str_contains($said, "LockAcquiringException: Failed to acquire the \"$name\" lock: the lock is held by this very thread"), "$case: $said");
        check_same(implode(' ', array_diff(['a', 'b', 'c'], [$name])), free_ones($place, 'a', 'b', 'c'), "$case: nothing is taken");
        check_same(false, $multi->acquire(true, 0.05), "$case: with a time-out");
        $own->release();
        check($multi->acquire(true), "$case: released");
        $said = outcome(fn () => multi_lock($place, ['x', $name])->acquire(true));
        check(str_contains($said, 'held by this very thread'), "$case: by another multi-lock: $said");
        $multi->release();
    }
}

/* A promotion does not wait: two of them would wait for each other. */
[$one, $two] = [multi_lock($store, ['a', 'b']), multi_lock($store, ['b', 'a'])];
check($one->acquireRead() && $two->acquireRead(), 'two readers');
check_same(false, $one->acquire(true, PATIENCE), 'a promotion');
check_same(
    'Latch\Exception\LockConflictedException: The multi-lock of "a" and 1 more is held for reading, and was not promoted, as a member has other readers: '
        . 'a wait for them would hold members; call release() before acquire(true).',
    outcome(fn () => $one->acquire(true)),
    'without a time-out'
);
check($one->isHeld() && $one->isAcquired() && $two->isHeld(), 'both are readers still');
$two->release();
check($one->acquire(true), 'the last reader is promoted');
check(!$two->acquireRead() && !$two->acquireRead(true, 0.05), 'and excludes readers');
$one->release();
echo "done\n";
--EXPECT--
done
