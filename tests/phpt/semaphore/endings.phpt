--TEST--
Permits are given back however their holder ends, and by nobody but their holder
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\RedisStore;
use Latch\Tests\RedisServer;

class Attic
{
    public static $kept;
}

$server = new RedisServer();
$store = new RecordingPermitStore(temporary_directory());
$places = [
    'local' => fn (array $semaphores) => $GLOBALS['kept'] = fn () => $semaphores,
    'global' => fn (array $semaphores) => $GLOBALS['kept'] = $semaphores,
    'static property' => fn (array $semaphores) => Attic::$kept = $semaphores,
    'cycle' => function (array $semaphores): void {
        $node = new stdClass();
        $node->self = [$node, $semaphores];
    },
    'suspended fiber' => function (array $semaphores): void {
        $GLOBALS['kept'] = new Fiber(function () use ($semaphores) {
            Fiber::suspend();
            count($semaphores);
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
foreach ($places as $place => $keep) {
    foreach ($endings as $ending => $end) {
        $child = fork(function (ParentLine $parent) use ($server, $store, $keep, $end): int {
            $semaphores = [
                redis_semaphore($server, 5, 2),
                new Semaphore(new Key('php', 5), $store),
                redis_semaphore($server, 5, 1, 300.0, false),
            ];
            foreach ($semaphores as $semaphore) {
                $parent->say($semaphore->acquire() ? 'held' : 'refused');
            }
            $keep($semaphores);
            unset($semaphores, $semaphore);
            $parent->hear_exactly('end');
            $end();
            return 0;
        });
        array_map($child->hear_exactly(...), ['held', 'held', 'held']);
        check_same([3, 1], [permits_held($server), $store->held()], "$place, $ending: held");
        $child->say('end');
        $child->ending();
        check_same([1, 0], [permits_held($server), $store->held()], "$place, $ending: left is what is not given back automatically");
        $server->command('FLUSHALL');
    }
}

/* Inside synchronized(), and at the end of a scope. */
foreach ([
    'exit' => fn () => exit(0),
    'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR),
] as $ending => $end) {
    $child = fork(function () use ($server, $end): int {
        redis_semaphore($server, 5, 2)->synchronized($end);
        return 1;
    });
    $child->ending();
    check_same(0, permits_held($server), "synchronized(), $ending");
}
(function () use ($server) {
    $semaphore = redis_semaphore($server, 1);
    check($semaphore->acquire() && permits_held($server) === 1, 'held in a scope');
})();
await_no_permits($server, 'at the end of the scope');

/* A child gives nothing of its parent's back; nor does it know for certain that it holds it. */
$semaphore = redis_semaphore($server, 5, 2);
$daemon = redis_semaphore($server, 5, 1, 300.0, false);
check($semaphore->acquire() && $daemon->acquire(), 'held by the parent');
foreach (['returns' => fn () => 0, 'exits' => fn () => exit(0), 'fails' => fn () => @trigger_error('the end', E_USER_ERROR)] as $ending => $end) {
    $child = fork(function () use ($semaphore, $daemon, $end) {
        check(!$semaphore->isHeld() && !$semaphore->isAcquired() && $daemon->isAcquired(), 'what a child is told');
        unset($semaphore, $GLOBALS['semaphore']);
        return $end();
    });
    $child->ending();
    check_same(3, permits_held($server), "a child that $ending");
}
$child = fork(function () use ($daemon) {
    $daemon->release();
    return 0;
});
$child->ending();
check(!$daemon->isAcquired() && $semaphore->isAcquired() && $semaphore->isHeld(), 'a daemon takes its permits along');
$child = fork(function () use ($server) {
    $own = redis_semaphore($server, 5, 3);
    return $own->acquire() && !redis_semaphore($server, 5)->acquire() ? 0 : 1;
});
check_same('exit 0', $child->ending(), 'a child has permits of its own');
check_same(2, permits_held($server), "the parent's in the end");

/* A killed holder's permits come back when their time is over. */
$child = fork(function (ParentLine $parent) use ($server) {
    redis_semaphore($server, 3, 1, 2.0)->acquire() && $parent->say('held');
    $semaphore = redis_semaphore($server, 3, 1, 2.0);
    posix_kill(posix_getpid(), SIGKILL);
});
$child->ending();
$semaphore->release();
$rest = redis_semaphore($server, 1);
check($rest->acquire(true, PATIENCE), 'what a dead process had is free in the end');
unset($rest, $semaphore, $daemon);
check_same(0, permits_held($server), 'permits that are left');
echo "done\n";
--EXPECT--
done
