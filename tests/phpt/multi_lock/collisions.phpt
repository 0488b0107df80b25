--TEST--
Processes that take members from each other in turn make progress: after some rounds members are kept, in order and for a bounded time
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\Key;
use Latch\Exception\LockConflictedException;

/*
 * The worst that others can do: whichever of the two this process has, the other one is taken. In rounds, in which a
 * wait holds nothing, that never ends.
 */
$store = new RecordingStore(temporary_directory());
$refused_in_a_row = 0;
$is_hostile = true;
$store->before = function (string $call, Key $key) use ($store, &$refused_in_a_row, &$is_hostile) {
    if ($call === 'delete') {
        $refused_in_a_row = 0;
    }
    if ($call === 'save' && $store->is_locked((string) $key === 'a' ? 'b' : 'a')) {
        $refused_in_a_row++;
        if ($is_hostile || $refused_in_a_row < 3) {
            throw new LockConflictedException();
        }
    }
};

/* They give way as soon as this process keeps what it has. */
$is_hostile = false;
$multi = multi_lock($store, ['b', 'a']);
check($multi->acquire(true, PATIENCE), 'acquired in the end');
check($multi->isHeld() && $store->is_locked('a') && $store->is_locked('b'), 'held');
$rounds = $store->count_calls('delete');
check($rounds >= 3 && $rounds <= 20, "$rounds rounds in which a member was given back");
$calls = array_values(array_filter($store->calls(), fn (string $call) => preg_match('/^(save|delete)/', $call) === 1));
check_same(['save a', 'save b', 'save b', 'save b'], array_slice($calls, -4), 'then in order, with the first one kept');
$waited_for = array_slice($calls, 0, 6);
check_same(['save a', 'save b', 'delete a', 'save b', 'save a', 'delete b'], $waited_for, 'before, a wait has held nothing');
$multi->release();

/* They do not: what is kept is given back after half of its TTL, and the time-out ends it all. */
$is_hostile = true;
$store->forget_calls();
$kept = [];
$multi = multi_lock($store, ['b', 'a'], 0.6);
$begun = hrtime(true);
check_same(false, $multi->acquire(true, 4.0), 'until the time-out');
$waited = (hrtime(true) - $begun) / 1e9;
check($waited >= 4.0 && $waited < 4.0 + PATIENCE / 4, "it waited $waited s");
check_same([false, false], [$store->is_locked('a'), $store->is_locked('b')], 'nothing is left');
$calls = array_values(array_filter($store->calls(), fn (string $call) => preg_match('/^(save|delete)/', $call) === 1));
$longest = 0;
for ($at = 0, $in_a_row = 0; $at < count($calls); $at++) {
    $in_a_row = $calls[$at] === 'save b' && ($calls[$at - 1] ?? '') === 'save b' ? $in_a_row + 1 : 0;
    $longest = max($longest, $in_a_row);
}
check($longest >= 1 && $longest <= 4, "$longest polls for b with a kept, for 0.3 s at most");
check(count(array_keys($calls, 'delete a')) > 8, 'then it begins with rounds again');
echo "done\n";
--EXPECT--
done
