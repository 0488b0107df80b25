--TEST--
Locks in combined stores are given back on every ending, and by nobody but their process
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, SemaphoreStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};

class Held
{
    public static array $locks = [];
}

$directory = temporary_directory();
$other = temporary_directory();
$name = "combined $directory";
$make = function () use ($directory, $other, $name): array {
    $native = new CombinedStore([new FlockStore($directory), new SemaphoreStore(), new FlockStore($other)], new UnanimousStrategy());
    $logged = new CombinedStore([new FlockStore($directory), new FlockStore($other)], new ConsensusStrategy());
    $logged->setLogger(new Logger());
    $mixed = new CombinedStore([new FlockStore($directory), new RecordingStore($directory)], new UnanimousStrategy());
    return [
        new Lock(new Key("$name native"), $native, 60),
        new Lock(new Key("$name logged"), $logged, 60),
        new Lock(new Key("$name mixed"), $mixed, 60),
        new Lock(new Key("$name nested"), new CombinedStore([$native, $logged], new UnanimousStrategy()), 60),
    ];
};
$locked = function () use ($directory, $name): array {
    $found = [];
    foreach (['native', 'logged', 'mixed', 'nested'] as $kind) {
        if (!is_free($directory, "$name $kind") || semaphore_exists("$name $kind")) {
            $found[] = $kind;
        }
    }
    if ((new RecordingStore($directory))->is_locked("$name mixed")) {
        $found[] = 'in PHP';
    }
    return $found;
};

$endings = [
    'it returns' => [fn () => null, 'exit 0'],
    'exit' => [fn () => exit(3), 'exit 3'],
    'an exception' => [fn () => throw new Exception('the end'), 'exit 255'],
    'a fatal error' => [fn () => @trigger_error('the end', E_USER_ERROR), 'exit 255'],
    'the memory limit' => [function () {
        ini_set('memory_limit', 6 * 1024 * 1024 + memory_get_usage(true));
        str_repeat('x', 64 * 1024 * 1024);
    }, 'exit 255'],
];
if (getenv('USE_ZEND_ALLOC') === '0') {
    unset($endings['the memory limit']); // valgrind: there is none
}
foreach ($endings as $how => [$end, $ending]) {
    foreach (['static', 'local', 'cycle'] as $place) {
        $child = fork(function (ParentLine $parent) use ($make, $locked, $end, $place) {
            $locks = $make();
            foreach ($locks as $lock) {
                check($lock->acquire(), 'acquired');
            }
            unset($lock);
            if ($place === 'static') {
                Held::$locks = $locks;
            } elseif ($place === 'cycle') {
                $cycle = new ArrayObject($locks);
                $cycle['self'] = $cycle;
                unset($cycle, $locks);
            }
            $parent->say(implode(', ', $locked()));
            $end();
        });
        check_same('native, logged, mixed, nested, in PHP', $child->hear(), "$how, $place: held");
        check_same($ending, $child->ending(), "$how, $place: the ending");
        check_same([], $locked(), "$how, $place: given back");
    }
}

/* A child of the holder gives nothing back. */
$locks = $make();
foreach ($locks as $lock) {
    check($lock->acquire(), 'acquired');
}
foreach ($endings as $how => [$end, $ending]) {
    $child = fork(function () use (&$locks, $end, $make) {
        Held::$locks = $locks;
        foreach ($make() as $lock) {
            check(!$lock->acquire(), 'a child does not get what its parent holds');
        }
        $locks = null;
        gc_collect_cycles();
        $end();
    });
    check_same($ending, $child->ending(), "a child, $how");
    check_same(['native', 'logged', 'mixed', 'nested', 'in PHP'], $locked(), "a child, $how: held still");
    foreach ($locks as $at => $lock) {
        check($lock->isAcquired(), "a child, $how: lock $at");
    }
}
foreach ($locks as $lock) {
    $lock->release();
}
check_same([], $locked(), 'given back by the parent');
echo "done\n";
--EXPECT--
done
