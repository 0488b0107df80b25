--TEST--
Semaphores by System V semaphores: permits, limits, waits, projects; given back however a process ends, never by a child
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore, SemaphoreFactory};
use Latch\Semaphore\Store\{LockStore, SemaphoreStore, StoreFactory};

$project = 'latch phpt ' . bin2hex(random_bytes(8));
$store = StoreFactory::createStore('semaphore://' . rawurlencode($project));
check_same(SemaphoreStore::class, get_class($store), 'the store of a DSN');
check_same(SemaphoreStore::class, get_class(StoreFactory::createStore('semaphore')), 'and without a project');
$make = fn (int $limit, int $weight = 1, string $name = 's') => new Semaphore(new Key($name, $limit, $weight), $store);
$set_exists = function (string $name = 's', string $digest = 'xxh128') use ($project) {
    $key = unpack('i', hash($digest, "$project\0permits\0$name", true))[1];
    return preg_match("/^ *$key /m", file_get_contents('/proc/sysvipc/sem')) === 1;
};

/* Permits, by weight. */
[$two, $one, $other] = [$make(3, 2), $make(3), $make(3, 2)];
check_same(3, $one->available(), 'all are free');
check($two->acquire() && $two->isHeld() && $two->isAcquired() && !$two->isExpired(), 'acquired');
check_same([null, 1], [$two->getRemainingLifetime(), $one->available()], 'without an end');
check(!$other->acquire() && $one->acquire() && $two->acquire(), 'as many as there are');
check_same(['used' => 3, 'holders' => [], 'holderCount' => 2, 'waiters' => 0, 'name' => 's'], $store->inspect(new Key('s', 3)), 'what the kernel tells');
$two->refresh();
$two->release();
check(!$two->isHeld() && $other->acquire() && !$two->acquire(), 'released');
check(!$two->acquire(true, 0.05), 'a wait in vain');
unset($other, $one);
check(!$set_exists(), 'the last one leaves nothing');
check_same('Latch\Semaphore\Exception\SemaphoreExpiredException', strstr(outcome(fn () => $two->refresh()), ':', true), 'not held');

/* Exceptions. */
[$held, $more] = [$make(3, 3), $make(4)];
$held->acquire();
$said = 'the processes that use the semaphore have named a limit of 3, and not of 4: name the same one everywhere.';
check_same("Latch\\Semaphore\\Exception\\RuntimeException: Failed to acquire the \"s\" semaphore: $said", outcome(fn () => $more->acquire()), 'another limit');
check_same("Latch\\Semaphore\\Exception\\InvalidArgumentException: Failed to store the \"s\" semaphore: $said", outcome(fn () => $store->save(new Key('s', 4), 1.0)), 'by the store');
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore: the permits are held by this very thread, through other keys, '
    . 'so that the wait would never end; release it first, or pass a timeout.', outcome(fn () => $make(3)->acquire(true)), 'a deadlock');
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "big" semaphore: a System V semaphore has at most 32767 permits, and not 32768.',
    outcome(fn () => $make(32768, 1, 'big')->acquire()), 'too many');
check($make(32767, 32767, 'big')->acquire() && !$set_exists('big'), 'as many as there can be');
check_same('Latch\Semaphore\Exception\InvalidArgumentException: Latch\Semaphore\Store\SemaphoreStore::__construct(): Argument #2 ($digest) must be "xxh128", "xxh64", "md5" or null',
    outcome(fn () => new SemaphoreStore('', 'crc32')), 'a digest');
check_same('Error: Latch\Semaphore\Store\SemaphoreStore is constructed already', outcome(fn () => $store->__construct()), 'twice');
check_same('Latch\Semaphore\Exception\UnserializableKeyException', strstr(outcome(function () use ($store) {
    $key = new Key('kept', 1);
    $store->save($key, 1.0);
    try {
        return serialize($key);
    } finally {
        $store->delete($key);
    }
}), ':', true), 'a key that is held belongs to this process');

/* Projects, digests, locks and slots of the same name are apart. */
check((new Semaphore(new Key('s', 1), new SemaphoreStore("$project x")))->acquire(), 'another project');
check((new Semaphore(new Key('s', 1), new SemaphoreStore($project, 'md5')))->acquire(), 'another digest');
$locks = new Latch\LockFactory(new Latch\Store\SemaphoreStore($project));
$lock = $locks->createLock('s');
check($lock->acquire(), 'a lock of that name');
$slots = new Semaphore(new Key('s', 1), new LockStore($locks));
check($slots->acquire() && $slots->available() === 0, 'slots');
$slots->release();
$lock->release();
check_same([true, 0], [$held->isHeld(), $held->available()], 'they change nothing');

/* A wait, with signals; and its end by a release. */
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use ($held) {
    $held->release();
});
$child = fork(function (ParentLine $parent) use ($make) {
    $waiting = $make(3, 2);
    $parent->say('waits');
    $parent->say($waiting->acquire(true, PATIENCE) ? 'held' : 'refused');
    $parent->hear_exactly('end');
    return 0;
});
$child->hear_exactly('waits');
wait_until(fn () => $store->inspect(new Key('s', 3))['waiters'] === 1, 'it waits');
posix_kill(getmypid(), SIGUSR1);
$child->hear_exactly('held');
check_same([1, false], [$held->available(), $held->acquire()], 'it has two');
pcntl_signal(SIGALRM, fn () => throw new LogicException('enough'));
pcntl_alarm(1);
check_same('LogicException: enough', outcome(fn () => $held->acquire(true)), 'a signal handler ends a wait');
$child->say('end');
check_same('exit 0', $child->ending(), 'its end');
wait_until(fn () => !$set_exists(), 'nothing is left');

/* Endings. */
foreach ([
    'end' => fn () => 0,
    'exit' => fn () => exit(0),
    'exception' => fn () => throw new Exception('the end'),
    'fatal error' => fn () => @trigger_error('the end', E_USER_ERROR),
    'kill' => fn () => posix_kill(getmypid(), SIGKILL),
] as $ending => $end) {
    $child = fork(function (ParentLine $parent) use ($make, $end) {
        $GLOBALS['kept'] = [$make(2), $make(2)];
        foreach ($GLOBALS['kept'] as $semaphore) {
            $semaphore->acquire();
        }
        $parent->say('held');
        $parent->hear_exactly('end');
        $end();
        return 0;
    });
    $child->hear_exactly('held');
    check_same(0, $make(2)->available(), "$ending: held");
    $child->say('end');
    $child->ending();
    check($make(2, 2)->acquire(true, PATIENCE), "$ending: given back");
    check(!$set_exists(), "$ending: nothing is left");
}

/* A child has none of them, and its end gives none back. */
foreach ([true, false] as $auto_release) {
    $held = new Semaphore(new Key('s', 2), $store, 300.0, $auto_release);
    $held->acquire();
    $child = fork(function () use ($held) {
        $held->release();
        return $held->isAcquired() || $held->acquire() && $held->available() !== 0 ? 1 : 0;
    });
    check_same('exit 0', $child->ending(), 'the child');
    check_same([true, true, 1], [$held->isHeld(), $held->isAcquired(), $held->available()], "its parent's");
    $held->release();
}

/* Lost, and told. */
$held = $make(2)->keepAlive()->onLost(function () use (&$lost) {
    $lost = true;
});
$held->acquire();
$key = unpack('i', hash('xxh128', "$project\0permits\0s", true))[1];
preg_match("/^ *$key +(\\d+)/m", file_get_contents('/proc/sysvipc/sem'), $match);
exec("ipcrm -s $match[1]");
wait_until(function () use (&$lost) {
    return $lost === true;
}, 'the loss is told');
check(!$held->isHeld() && !$held->isAcquired(), 'it is lost');
$held->release();
check(!$set_exists(), 'nothing is left');

/* Many processes, never too many. */
$factory = new SemaphoreFactory($store);
$directory = temporary_directory();
$children = array_map(fn () => fork(function () use ($factory, $directory) {
    for ($round = 0; $round < 40; $round++) {
        $semaphore = $factory->createSemaphore('crowd', 3, random_int(1, 2));
        $semaphore->acquire(true, PATIENCE) || exit(3);
        touch($mine = "$directory/" . getmypid());
        count(glob("$directory/*")) <= 3 || exit(2);
        unlink($mine);
        $semaphore->release();
    }
    return 0;
}), range(1, 6));
foreach ($children as $child) {
    check_same('exit 0', $child->ending(), 'one of the crowd');
}
check(!$set_exists('crowd'), 'nothing is left of it');
echo "done\n";
--EXPECT--
done
