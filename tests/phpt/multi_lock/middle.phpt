--TEST--
A script that ends in the middle of a call leaves none of the members that the call has taken, and has one fatal error at most
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\{Key, LockFactory, MultiLock};

$endings = [
    'exit' => fn () => exit(0),
    'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR),
    'exception' => fn () => throw new Exception('the end'),
    'out of memory' => function (): void {
        ini_set('memory_limit', (string) (memory_get_usage(true) + (4 << 20)));
        str_repeat('x', 1 << 30);
    },
    'time limit' => function (): void {
        set_time_limit(1);
        while (true) {
        }
    },
    'suspended fiber' => fn () => Fiber::suspend(),
];
if (getenv('USE_ZEND_ALLOC') === '0') {
    unset($endings['out of memory']); // nothing is limited
}
/* In which call of the store, for which member. */
$moments = [
    'acquire' => ['save', 'b', fn (MultiLock $multi) => $multi->acquire()],
    'the expiry of a member' => ['putOffExpiration', 'b', fn (MultiLock $multi) => $multi->acquire()],
    'the expiry of the last' => ['putOffExpiration', 'c', fn (MultiLock $multi) => $multi->acquire()],
    'a round that waits' => ['save', 'c', fn (MultiLock $multi) => $multi->acquire(true, PATIENCE)],
    'give-back' => ['delete', 'a', fn (MultiLock $multi) => $multi->acquire()],
    'release' => ['delete', 'b', fn (MultiLock $multi) => $multi->acquire() && $multi->release()],
    'the end of synchronized()' => ['delete', 'a', fn (MultiLock $multi) => $multi->synchronized(fn () => 1)],
    'isAcquired()' => ['exists', 'b', fn (MultiLock $multi) => $multi->acquire() && $multi->isAcquired()],
];
/* Not released automatically: what an acquire has taken so far is given back all the same. */
$by_hand = ['acquire', 'the expiry of a member', 'the expiry of the last', 'a round that waits'];

foreach ($moments as $moment => [$at, $member, $use]) {
    foreach ($endings as $ending => $end) {
        if ($ending === 'time limit' && $moment !== 'acquire') {
            continue; // a fatal error that takes a second
        }
        foreach (in_array($moment, $by_hand, true) ? [true, false] : [true] as $auto_release) {
            $case = "$moment, $ending, " . ($auto_release ? 'released automatically' : 'by hand');
            $store = new RecordingStore(temporary_directory());
            $other = (new LockFactory($store))->createLock('c');
            if ($moment === 'give-back') {
                $other->acquire();
            }
            $child = fork(function (ParentLine $parent) use ($store, $at, $member, $use, $end, $auto_release): int {
                $store->before = function (string $call, Key $key) use ($store, $at, $member, $end, $parent) {
                    if ($call === $at && (string) $key === $member) {
                        $store->before = null;
                        $parent->say('in the middle');
                        $end();
                    }
                };
                $multi = multi_lock($store, ['a', 'b', 'c'], 300.0, $auto_release);
                $fiber = new Fiber(fn () => $use($multi));
                $fiber->start();
                return 0;
            });
            $child->hear_exactly('in the middle');
            if ($ending === 'out of memory') {
                check(str_starts_with($said = $child->hear(), 'died of: Allowed memory size'), "$case: $said");
            }
            $child->ending();
            check_same($moment === 'give-back' ? ['c'] : [], array_values(array_filter(['a', 'b', 'c'], $store->is_locked(...))), "$case: left");
        }
    }
}
echo "done\n";
--EXPECT--
done
