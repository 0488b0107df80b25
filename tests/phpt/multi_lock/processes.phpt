--TEST--
Processes that want overlapping sets, in any order, exclude each other, never wait for each other for ever, and all get their turn
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\LockFactory;
use Latch\Store\{FlockStore, RedisStore, SemaphoreStore, SharedMemoryStore};
use Latch\Tests\RedisServer;

const NAMES = ['a', 'b', 'c', 'd', 'e'];

/**
 * Evidence of who holds what, apart from all locks: a holder makes "NAME.w", or "NAME.r.PID" of a member for reading,
 * and finds nothing there that excludes it.
 */
final class Witness
{
    public function __construct(private readonly string $directory)
    {
    }

    /** @param array<string, string> $modes */
    public function hold(array $modes, callable $meanwhile): void
    {
        $marks = [];
        foreach ($modes as $name => $mode) {
            $marks[] = $mark = "$this->directory/$name." . ($mode === 'write' ? 'w' : 'r.' . getmypid());
            if (!@fopen($mark, 'x')) {
                throw new LogicException("$name is held by two for writing");
            }
            $others = array_diff(glob("$this->directory/$name.*"), [$mark]);
            if ($mode === 'write' ? $others !== [] : in_array("$this->directory/$name.w", $others, true)) {
                throw new LogicException("$name is held for $mode, and by another: " . implode(' ', $others));
            }
        }
        $meanwhile();
        array_map(unlink(...), $marks);
    }
}

$redis = new RedisServer();
$directory = temporary_directory();
$postgresql = Ground::postgresql();
$mysql = Ground::mysql();
$stores = [
    'flock' => fn () => new FlockStore($directory),
    'System V' => fn () => new SemaphoreStore(),
    'shared memory' => fn () => new SharedMemoryStore("$directory/memory", 1000),
    'Redis' => fn () => new RedisStore($redis->dsn()),
    'PostgreSQL' => fn () => $postgresql->store(),
    'MySQL' => fn () => $mysql->store(),
    'PHP' => fn () => new RecordingStore("$directory/php"),
];
mkdir("$directory/php");

/** @param callable(int): int $body the child's number is its argument */
function run_children(int $count, callable $body, string $case): void
{
    $children = [];
    for ($number = 0; $number < $count; $number++) {
        $children[] = fork(function (ParentLine $parent) use ($body, $number) {
            $parent->hear_exactly('go');
            try {
                $body($number);
            } catch (Throwable $e) {
                $parent->say(get_class($e) . ": {$e->getMessage()}");
                return 1;
            }
            $parent->say('done');
            return 0;
        });
    }
    foreach ($children as $child) {
        $child->say('go');
    }
    foreach ($children as $number => $child) {
        check_same('done', $child->hear(3 * PATIENCE), "$case: process $number");
        check_same('exit 0', $child->ending(), "$case: ending of process $number");
    }
}

foreach ($stores as $case => $make) {
    $has_readers = in_array($case, ['flock', 'Redis', 'PostgreSQL'], true);
    $names = array_combine(NAMES, array_map(fn (string $name) => "stress $name " . basename($directory), NAMES));
    $witness = new Witness(temporary_directory());
    $turns = $case === 'PHP' ? 8 : 40; // it polls each 100 ms

    /* The same two, in opposite orders. */
    run_children(2, function (int $number) use ($make, $names, $witness, $turns) {
        $order = [$names['a'], $names['b']];
        $multi = multi_lock($make(), $number === 0 ? $order : array_reverse($order));
        for ($turn = 0; $turn < $turns; $turn++) {
            if (!$multi->acquire(true, PATIENCE)) {
                throw new LogicException("not acquired within PATIENCE, turn $turn");
            }
            $witness->hold(['a' => 'write', 'b' => 'write'], fn () => usleep(100));
            $multi->release();
        }
    }, "$case: opposite orders");

    /* Overlapping sets at random, with readers, beside plain locks. */
    run_children(5, function (int $number) use ($make, $names, $witness, $turns, $has_readers) {
        mt_srand(4711 + $number);
        $store = $make();
        for ($turn = 0; $turn < $turns; $turn++) {
            $chosen = array_rand(array_flip(NAMES), mt_rand(1, 3));
            $modes = [];
            foreach ((array) $chosen as $name) {
                $modes[$name] = $has_readers && mt_rand(0, 2) === 0 ? 'read' : 'write';
            }
            $keys = array_keys($modes);
            shuffle($keys);
            $resources = [];
            foreach ($keys as $name) {
                $resources[$names[$name]] = $modes[$name];
            }
            if (count($resources) === 1 && current($resources) === 'write') {
                $lock = (new LockFactory($store))->createLock(key($resources));
            } else {
                $lock = multi_lock($store, $resources);
            }
            if (!$lock->acquire(true, PATIENCE)) {
                throw new LogicException("not acquired within PATIENCE, turn $turn");
            }
            if (!$lock->isHeld()) {
                throw new LogicException("not held, turn $turn");
            }
            $witness->hold($modes, fn () => usleep(mt_rand(0, 500)));
            $lock->release();
        }
    }, "$case: overlapping sets");

    check_same(implode(' ', $names), free_ones($make(), ...array_values($names)), "$case: all are free in the end");
}
echo "done\n";
--EXPECT--
done
