--TEST--
Slots are given back however their holder ends, killed too, and never by a child that merely exits
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_slots.inc';

use Latch\LockFactory;
use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\LockStore;
use Latch\Store\FlockStore;

class Attic
{
    public static $kept;
}

$directory = temporary_directory();
$php = new LocksInPhp(temporary_directory());
/* Locks that a factory of the user's makes, in files all the same. */
$calledFactory = fn () => new class (new FlockStore($directory)) extends LockFactory {
    public function createLock(string $resource, ?float $ttl = 300.0, bool $autoRelease = true): Latch\SharedLockInterface
    {
        return parent::createLock($resource, $ttl, $autoRelease);
    }
};
$places = [
    'local' => fn (array $semaphores) => $GLOBALS['kept'] = fn () => $semaphores,
    'static property' => fn (array $semaphores) => Attic::$kept = $semaphores,
    'cycle' => function (array $semaphores): void {
        $node = new stdClass();
        $node->self = [$node, $semaphores];
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
    'killed' => fn () => posix_kill(posix_getpid(), SIGKILL),
];
if (getenv('USE_ZEND_ALLOC') === '0') {
    unset($endings['out of memory']); // nothing is limited
}
foreach ($places as $place => $keep) {
    foreach ($endings as $ending => $end) {
        $child = fork(function (ParentLine $parent) use ($directory, $php, $calledFactory, $keep, $end): int {
            $semaphores = [
                flock_semaphore($directory, 5, 3),
                new Semaphore(new Key('called', 5, 2), new LockStore($calledFactory())),
                new Semaphore(new Key('php', 5, 2), slots_in($php)),
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
        check_same([3, 2, 2], [slots_locked($directory, 5), slots_locked($directory, 5, 'called'), $php->held()], "$place, $ending: held");
        $child->say('end');
        $child->ending();
        check_same([0, 0], [slots_locked($directory, 5), slots_locked($directory, 5, 'called')], "$place, $ending: given back");
        check_same($ending === 'killed' ? 2 : 0, $php->held(), "$place, $ending: by PHP code");
        array_map(unlink(...), glob("$php->directory/lock-*"));
    }
}

/* In the middle of a call, with one slot of three in hand; where that is an acquire, also by hand. */
foreach (array_diff_key($endings, ['end' => 0, 'killed' => 0]) as $ending => $end) {
    foreach ([['save', true], ['save', false], ['delete', true]] as [$at, $auto_release]) {
        if ($at === 'delete' && in_array($ending, ['exit', 'exception'], true)) {
            continue; // the store's delete() has failed
        }
        $case = "$ending in the middle of $at(), " . ($auto_release ? 'released automatically' : 'by hand');
        $child = fork(function (ParentLine $parent) use ($php, $end, $at, $auto_release): int {
            $php->before = function (string $call) use ($php, $end, $at, $parent) {
                if ($call === $at && $php->held() === 1) {
                    $php->before = null;
                    $parent->say('in the middle');
                    $end();
                }
            };
            $semaphore = new Semaphore(new Key('php', 5, 3), slots_in($php), 300.0, $auto_release);
            $semaphore->acquire();
            $semaphore->release();
            return 0;
        });
        $child->hear_exactly('in the middle');
        if ($ending === 'out of memory') {
            check(str_starts_with($said = (string) $child->hear(), 'died of: Allowed memory size'), "$case: $said");
        }
        $child->ending();
        check_same(0, $php->held(), $case);
        array_map(unlink(...), glob("$php->directory/lock-*"));
    }
}

/* Inside synchronized(), and at the end of a scope. */
foreach (['exit' => fn () => exit(0), 'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR)] as $ending => $end) {
    $child = fork(function () use ($directory, $end): int {
        flock_semaphore($directory, 5, 2)->synchronized($end);
        return 1;
    });
    $child->ending();
    check_same(0, slots_locked($directory, 5), "synchronized(), $ending");
}
(function () use ($directory) {
    $semaphore = flock_semaphore($directory, 2, 2);
    check($semaphore->acquire() && slots_locked($directory, 2) === 2, 'held in a scope');
})();
check_same(0, slots_locked($directory, 2), 'at the end of the scope');

/* A child gives nothing of its parent's back; nor does it keep it. */
$semaphore = flock_semaphore($directory, 5, 2);
$called = new Semaphore(new Key('called', 5, 2), new LockStore($calledFactory()));
check($semaphore->acquire() && $called->acquire(), 'held by the parent');
foreach (['returns' => fn () => 0, 'exits' => fn () => exit(0), 'fails' => fn () => @trigger_error('the end', E_USER_ERROR)] as $ending => $end) {
    $child = fork(function () use ($semaphore, $called, $end) {
        check(!$semaphore->isHeld() && !$semaphore->isAcquired() && !$called->isHeld(), 'what a child is told');
        unset($semaphore, $called, $GLOBALS['semaphore'], $GLOBALS['called']);
        return $end();
    });
    $child->ending();
    check_same([2, 2], [slots_locked($directory, 5), slots_locked($directory, 5, 'called')], "a child that $ending");
    check($semaphore->isHeld() && $semaphore->isAcquired() && $called->isAcquired(), "the parent's, after a child that $ending");
}
$child = fork(function (ParentLine $parent) use ($directory) {
    $own = flock_semaphore($directory, 5, 3);
    $parent->say($own->acquire() && !flock_semaphore($directory, 5)->acquire() ? 'own' : 'none');
    $parent->stay();
});
$child->hear_exactly('own');
unset($semaphore, $called);
check_same([3, 0], [slots_locked($directory, 5), slots_locked($directory, 5, 'called')], "a child does not keep its parent's");
$child->let_go();
$child->ending();
check_same(0, slots_locked($directory, 5), 'nor does it leave its own');

/* A daemon: what is not given back automatically goes along. */
$daemon = flock_semaphore($directory, 3, 2, false);
$daemon->acquire();
$child = fork(function (ParentLine $parent) use ($daemon) {
    $parent->hear_exactly('go on');
    $daemon->release();
    return 0;
});
check($daemon->isAcquired(), 'shared with a child');
$child->say('go on');
check_same('exit 0', $child->ending(), 'the daemon');
check_same(0, slots_locked($directory, 3), 'what the daemon has released');
echo "done\n";
--EXPECT--
done
