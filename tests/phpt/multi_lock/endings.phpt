--TEST--
All members are released however their holder ends, and by nobody but their holder
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\Store\{FlockStore, RedisStore};
use Latch\Tests\RedisServer;

class Attic
{
    public static $kept;
}

$server = new RedisServer();
$redis = new RedisStore($server->dsn());
$php = new RecordingStore(temporary_directory());
$places = [
    'local' => fn (array $locks) => $GLOBALS['kept'] = fn () => $locks,
    'global' => fn (array $locks) => $GLOBALS['kept'] = $locks,
    'static property' => fn (array $locks) => Attic::$kept = $locks,
    'cycle' => function (array $locks): void {
        $node = new stdClass();
        $node->self = [$node, $locks];
    },
    'its own callback' => function (array $locks): void {
        $locks[0]->onLost(fn () => count($locks));
    },
    'suspended fiber' => function (array $locks): void {
        $GLOBALS['kept'] = new Fiber(function () use ($locks) {
            Fiber::suspend();
            count($locks);
        });
        $GLOBALS['kept']->start();
    },
];
$endings = [
    'end' => fn () => 0,
    'exit' => fn () => exit(0),
    'exception' => fn () => throw new Exception('the end'),
    'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR),
    'out of memory' => function (): void {
        ini_set('memory_limit', (string) (memory_get_usage(true) + (4 << 20)));
        str_repeat('x', 1 << 30);
    },
];
if (getenv('USE_ZEND_ALLOC') === '0') {
    unset($endings['out of memory']); // nothing is limited
}
$held = fn () => [
    3 - count(array_filter(explode(' ', free_ones($redis, 'a', 'b', 'c')))),
    count(array_filter(['a', 'b', 'c'], $php->is_locked(...))),
    2 - count(array_filter(explode(' ', free_ones($redis, 'd', 'e')))),
];
foreach ($places as $place => $keep) {
    foreach ($endings as $ending => $end) {
        $child = fork(function (ParentLine $parent) use ($server, $php, $keep, $end): int {
            $locks = [
                multi_lock(new RedisStore($server->dsn()), ['c', 'a', 'b']),
                multi_lock($php, ['b', 'c', 'a']),
                multi_lock(new RedisStore($server->dsn()), ['d', 'e'], 300.0, false),
            ];
            foreach ($locks as $lock) {
                $parent->say($lock->acquire() ? 'held' : 'refused');
            }
            $keep($locks);
            unset($locks, $lock);
            $parent->hear_exactly('end');
            $end();
            return 0;
        });
        array_map($child->hear_exactly(...), ['held', 'held', 'held']);
        check_same([3, 3, 2], $held(), "$place, $ending: held");
        $child->say('end');
        $child->ending();
        check_same([0, 0, 2], $held(), "$place, $ending: left is what is not released automatically");
        $server->command('FLUSHALL');
    }
}

/* Inside synchronized(), and at the end of a scope. */
foreach ([
    'exit' => fn () => exit(0),
    'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR),
] as $ending => $end) {
    $child = fork(function () use ($server, $end): int {
        multi_lock(new RedisStore($server->dsn()), ['a', 'b'])->synchronized($end);
        return 1;
    });
    $child->ending();
    check_same('a b', free_ones($redis, 'a', 'b'), "synchronized(), $ending");
}
(function () use ($redis) {
    $multi = multi_lock($redis, ['a', 'b']);
    check($multi->acquire() && free_ones($redis, 'a', 'b') === '', 'held in a scope');
})();
check_same('a b', free_ones($redis, 'a', 'b'), 'at the end of the scope');

/* A child releases nothing of its parent's; a daemon takes its locks along. */
$multi = multi_lock($redis, ['a', 'b']);
$daemon = multi_lock($redis, ['d', 'e'], 300.0, false);
$files = multi_lock(new FlockStore(temporary_directory()), ['a', 'b']);
check($multi->acquire() && $daemon->acquire() && $files->acquire(), 'held by the parent');
foreach (['returns' => fn () => 0, 'exits' => fn () => exit(0), 'fails' => fn () => @trigger_error('the end', E_USER_ERROR)] as $ending => $end) {
    $child = fork(function () use ($multi, $daemon, $files, $end) {
        unset($multi, $files, $GLOBALS['multi'], $GLOBALS['files']);
        return $end();
    });
    $child->ending();
    check_same('', free_ones($redis, 'a', 'b', 'd', 'e'), "a child that $ending");
    check($multi->isHeld() && $multi->isAcquired() && $files->isHeld() && $files->isAcquired(), "what the parent has after a child that $ending");
}
$child = fork(function () use ($daemon) {
    $daemon->release();
    return 0;
});
$child->ending();
check(!$daemon->isAcquired() && $multi->isAcquired() && $multi->isHeld(), 'a daemon takes its locks along');
check_same('d e', free_ones($redis, 'a', 'b', 'd', 'e'), 'and releases all of them');

/* A store that fails at one of the members: none is kept, and the exception is the store's. */
$multi->release();
foreach (['save', 'putOffExpiration'] as $at) {
    $failing = new RecordingStore(temporary_directory());
    $failing->before = function (string $call, Latch\Key $key) use ($at) {
        if ($call === $at && (string) $key === 'b') {
            throw new RuntimeException('on purpose');
        }
    };
    $multi = multi_lock($failing, ['c', 'b', 'a']);
    $said = outcome($multi->acquire(...));
    check(str_contains($said, 'LockAcquiringException: Failed to') && str_contains($said, '"b" lock'), "$at fails: $said");
    $failing->before = null;
    check(!$multi->isHeld() && !$multi->isAcquired(), "$at fails: nothing is held");
    check_same([false, false], [$failing->is_locked('a'), $failing->is_locked('c')], "$at fails: nothing is left");
}

/* A release that fails for one member is done for the others. */
$failing = new RecordingStore(temporary_directory());
$multi = multi_lock($failing, ['c', 'b', 'a']);
check($multi->acquire(), 'acquired');
$failing->before = fn (string $call, Latch\Key $key) => $call === 'delete' && (string) $key !== 'c' ? throw new RuntimeException('on purpose') : null;
$said = outcome($multi->release(...));
check(str_contains($said, 'LockReleasingException: Failed to release the "a" lock'), $said);
check_same([true, true, false], array_map($failing->is_locked(...), ['a', 'b', 'c']), 'what is released');
$failing->before = null;
$multi->release();
check_same([false, false, false], array_map($failing->is_locked(...), ['a', 'b', 'c']), 'in the end');
echo "done\n";
--EXPECT--
done
