--TEST--
available() and inspect(): the free permits by the caller's limit, and the holders; both change nothing
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\{InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (['memory' => new InMemoryStore(), 'Redis' => new RedisStore($server->dsn())] as $name => $store) {
    $make = fn (int $limit, int $weight = 1) => new Semaphore(new Key('s', $limit, $weight), $store);
    $available = fn (int $limit) => $make($limit)->available();
    check_same([1, 5, 2 ** 53], [$available(1), $available(5), $available(2 ** 53)], "$name: nothing is held");
    check_same(['used' => 0, 'holders' => [], 'holderCount' => 0, 'waiters' => 0, 'name' => 's'], $store->inspect(new Key('s', 1)), "$name: nobody");
    [$two, $one] = [$make(5, 2), $make(4)];
    check($two->acquire() && $one->acquire(), "$name: acquired");
    check_same([2, 2, 1], [$two->available(), $make(5, 5)->available(), $one->available()], "$name: by each one's limit");
    check_same([0, 0, 2 ** 53 - 3], [$available(3), $available(2), $available(2 ** 53)], "$name: never less than none");
    $found = $store->inspect(new Key('s', 1));
    usort($found['holders'], fn (array $left, array $right) => $left['weight'] <=> $right['weight']);
    check_same(['s', 3, 2, 0], [$found['name'], $found['used'], $found['holderCount'], $found['waiters']], "$name: the report");
    check_same([[1, 4], [2, 5]], array_map(fn (array $holder) => [$holder['weight'], $holder['limit']], $found['holders']), "$name: its holders");
    check_same([getmypid(), getmypid()], array_column($found['holders'], 'pid'), "$name: their processes");
    check($two->isHeld() && $one->isAcquired() && $make(4)->acquire(), "$name: all as before");
    $two->release();
    check_same(4, $two->available(), "$name: after a release");
    unset($two, $one);
    check_same(5, $available(5), "$name: in the end");
    check_same(7, (new Semaphore(new Key('other', 7), $store))->available(), "$name: another semaphore");
}

/* A waiter is seen, and has no permits. */
$all = redis_semaphore($server, 2, 2);
$all->acquire();
$child = fork(function (ParentLine $parent) use ($server) {
    redis_semaphore($server, 2)->acquire(true);
    return 0;
});
wait_until(fn () => permit_queue($server) === 1, 'it waits');
check_same([0, 1], [$all->available(), $store->inspect(new Key('s', 1))['waiters']], 'a waiter');
$all->release();
check_same('exit 0', $child->ending(), 'its end');
check_same(2, $all->available(), 'after it');

/* Expired permits are free. */
$server->command('ZADD', '{s}:weight', 2, 'gone');
$server->command('ZADD', '{s}:time', time() - 1, 'gone');
check_same(2, $all->available(), 'expired permits');
$server->command('DEL', '{s}:weight', '{s}:time');

/* Failures. */
$server->command('SET', '{odd}:time', 'text');
check(preg_match('/^Latch.Semaphore.Exception.SemaphoreStorageException: Failed to inspect the "odd" semaphore: .*WRONGTYPE/',
    $outcome = outcome(fn () => (new Semaphore(new Key('odd', 1), $store))->available())) === 1, $outcome);
check(preg_match('/^Latch.Semaphore.Exception.SemaphoreStorageException: Failed to inspect the "s" semaphore: /',
    $outcome = outcome(fn () => (new RedisStore('redis://127.0.0.1:1'))->inspect(new Key('s', 1)))) === 1, $outcome);
check_same('Latch\Semaphore\Exception\RuntimeException: The permits of the "s" semaphore cannot be counted: RecordingPermitStore is written in PHP, '
    . 'and has no method for that.', outcome(fn () => (new Semaphore(new Key('s', 1), new RecordingPermitStore(temporary_directory())))->available()), 'a store in PHP');
$wrapper = new class ($server->dsn()) extends RedisStore {
    public function exists(Key $key): bool
    {
        return parent::exists($key);
    }
};
check_same(3, (new Semaphore(new Key('s', 3), $wrapper))->available(), 'a subclass');
echo "done\n";
--EXPECT--
done
