--TEST--
onLost(): callbacks run in waits and fibers, throw, exit, use locks, and are heard all the same
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock};
use Latch\Exception\LockExpiredException;
use Latch\Store\FlockStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$losses = new Losses();
$directory = temporary_directory();

/** A lock that is lost soon. */
$lose = function (string ...$names) use ($server, $losses): Lock {
    $lock = short_lock($server, ttl: 1.5)->keepAlive();
    foreach ($names as $name) {
        $lock->onLost($losses->note($name));
    }
    check($lock->acquire(), 'acquired');
    $server->command('DEL', 'r');
    return $lock;
};

/* While Latch waits for another lock; which goes on then. */
$holder = holder($directory, 'other');
$losses->then = fn () => $holder->say('release');
$lock = $lose('in a wait');
$other = new Lock(new Key('other'), new FlockStore($directory));
check($other->acquire(true, PATIENCE), 'the wait goes on after a loss');
$losses->await('in a wait');
$other->release();

/* An exception ends a wait, as it is; all callbacks are called, and what they throw is not lost. */
$holder = holder($directory, 'other');
$losses->then = fn ($lock, $name) => throw new RuntimeException($name);
foreach ([false, true] as $throw_on_lost) {
    ini_set('latch.throw_on_lost', $throw_on_lost);
    $lock = $lose('one', 'two');
    try {
        $other->acquire(true);
        echo "BROKEN: the wait did not end\n";
    } catch (RuntimeException $e) {
        check_same(
            'RuntimeException: one <- RuntimeException: two'
                . ($throw_on_lost ? ' <- LockExpiredException: The "r" lock was lost: ' : ''),
            preg_replace('/(was lost: ).+\.$/', '$1', messages($e)),
            'what a wait throws'
        );
    }
    $losses->await('one', 'two');
}
check(!$other->isHeld(), 'nothing is taken');
$losses->then = null;

/* latch.throw_on_lost ends whatever is being done; with clones once. */
foreach ([
    'a wait' => fn () => $other->acquire(true),
    'a sleep' => function () { while (true) { usleep(1000); } },
    'a loop' => function () { for (;;) { } },
    'a callback' => fn () => array_map(fn () => usleep(1000), range(1, 10000)),
    'synchronized()' => fn () => short_lock($server, 'inner')->synchronized(function () { for (;;) { } }),
    'a destructor' => function () {
        $object = new class {
            public function __destruct() { for (;;) { } }
        };
        unset($object);
    },
] as $doing => $do) {
    $lock = $lose('thrown');
    $clone = clone $lock;
    try {
        $do();
        echo "BROKEN: $doing did not end\n";
    } catch (LockExpiredException $e) {
        check_same(1, preg_match('/^The "r" lock was lost: .+\.$/', $e->getMessage()), "$doing: {$e->getMessage()}");
        check_same(null, $e->getPrevious(), "$doing: thrown once");
    }
    usleep(1000); // another interrupt would come here
    $losses->await('thrown', 'thrown');
    unset($clone);
}
check($server->lacks('inner'), 'synchronized() has released its lock');
ini_set('latch.throw_on_lost', 0);
$holder->kill();
$holder->ending();

/* In a fiber, which a callback cannot suspend. */
$losses->then = function () use ($losses) {
    try {
        Fiber::suspend();
    } catch (FiberError) {
        $losses->told[] = 'not suspended';
    }
};
$fiber = new Fiber(function () use ($lose, $losses) {
    $lock = $lose('in a fiber');
    Fiber::suspend('taken');
    $losses->await('in a fiber', 'not suspended');
});
check_same('taken', $fiber->start(), 'the fiber');
$fiber->resume();
check($fiber->isTerminated(), 'the fiber has ended');

/* Losses within a callback are told there. */
$losses->then = function (Lock $lock, string $name) use ($lose, $losses) {
    if ($name === 'outer') {
        $inner = $lose('inner');
        wait_until(fn () => count($losses->told) === 2, 'the inner loss is told within');
        $losses->told[] = 'outer ends';
    }
};
$lock = $lose('outer');
$losses->await('outer', 'inner', 'outer ends');

/* A callback may take the lock again, let it go, and add callbacks. */
$losses->then = function (Lock $lost, string $name) use ($losses) {
    $GLOBALS['lock'] = null;
    if ($name === 'again') {
        check($lost->acquire() && $lost->isHeld(), 'acquired again');
        $lost->onLost($losses->note('added'));
    }
};
$lock = $lose('again');
$losses->await('again'); // what was added is for the next loss
check($server->lacks('r'), 'it was released with its object');
$losses->then = null;

/* What may be called here may be called there: private methods, and what __call() answers. */
class Caller
{
    private function hidden(): void
    {
        $GLOBALS['losses']->told[] = 'hidden';
    }

    public function add(Lock $lock): void
    {
        $lock->onLost([$this, 'hidden'])->onLost([new Magic(), 'nothing'])->onLost('Magic::of');
    }
}
class Magic
{
    public function __call(string $name, array $arguments): void
    {
        $GLOBALS['losses']->told[] = "$name " . get_class($arguments[0]);
    }

    public static function of(Lock $lock): void
    {
        $GLOBALS['losses']->told[] = 'of';
    }
}
$lock = short_lock($server, ttl: 1.5)->keepAlive();
(new Caller())->add($lock);
check($lock->acquire(), 'acquired');
$server->command('DEL', 'r');
$losses->await('hidden', 'nothing Latch\Lock', 'of');
check_same(
    'TypeError: Latch\Lock::onLost(): Argument #1 ($callback) must be a valid callback,'
        . ' function "no_such_function" not found or invalid function name',
    outcome(fn () => $lock->onLost('no_such_function')),
    'no callback'
);

/* A callback that captures its lock is no leak. */
$lock = short_lock($server)->keepAlive();
$lock->onLost(fn () => $lock);
check($lock->acquire(), 'acquired');
$lock = null;
gc_collect_cycles();
check($server->lacks('r'), 'the collector has released a lock in a cycle with its callback');

/* exit() is the end, also with more callbacks to come. */
$child = fork(function (ParentLine $parent) use ($server, $lose, $losses) {
    $losses->then = function ($lock, $name) use ($parent) {
        $parent->say($name);
        exit(7);
    };
    $lock = $lose('one', 'two');
    for (;;) {
        usleep(1000);
    }
});
check_same('exit 7', $child->ending(), 'the ending of who exits');
$child->hear_exactly('one');
check_same(null, $child->hear(), 'what is heard after an exit');
echo "done\n";
--EXPECT--
done
