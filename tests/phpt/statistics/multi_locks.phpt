--TEST--
A multi-lock counts once, however many members it has and however often they are tried, and not as a lock; waits and losses are its members'
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\{Lock, LockFactory, MultiLock};
use Latch\Store\{FlockStore, InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$directory = temporary_directory();
$stores = [
    'Redis' => fn () => new RedisStore($server->dsn()),
    'flock' => fn () => new FlockStore($directory),
    'memory' => (fn (InMemoryStore $store) => fn () => $store)(new InMemoryStore()),
    'PHP' => fn () => new RecordingStore($directory),
];
foreach ($stores as $name => $make) {
    $multi = multi_lock($make(), ['c', 'a', 'b']);
    $lock = (new LockFactory($make()))->createLock('b');
    check_same(['multi' => ['acquired' => 2]], counted_by_class(fn () => $multi->acquire() && $multi->acquire()), "$name: acquired");
    check_same(['lock' => ['conflicts' => 1]], counted_by_class($lock->acquire(...)), "$name: a lock of a member's name");
    check_same([], counted_by_class($multi->release(...)), "$name: released");
    check_same(['lock' => ['acquired' => 1]], counted_by_class($lock->acquire(...)), "$name: the lock");
    check_same(['multi' => ['conflicts' => 1]], counted_by_class($multi->acquire(...)), "$name: refused");
    $before = [MultiLock::getStatistics()['waitSeconds'], Lock::getStatistics()['waitSeconds']];
    check_same(
        ['multi' => ['conflicts' => 1, 'waits' => 1]],
        counted_by_class(fn () => $multi->acquire(true, 0.6)),
        "$name: in vain"
    );
    check(MultiLock::getStatistics()['waitSeconds'] - $before[0] > 0.1, "$name: the time of the wait");
    check_same($before[1], Lock::getStatistics()['waitSeconds'], "$name: which is no lock's");
    $lock->release();
    if ($name === 'memory') {
        continue;
    }

    /* Two waits of one acquire, for one member after the other. */
    $holder = fork(function (ParentLine $parent) use ($make) {
        $locks = array_map((new LockFactory($make()))->createLock(...), ['b', 'c']);
        foreach ($locks as $lock) {
            $parent->say($lock->acquire() ? 'held' : 'refused');
        }
        foreach ($locks as $lock) {
            $parent->hear();
            $lock->release();
        }
        return 0;
    });
    array_map($holder->hear_exactly(...), ['held', 'held']);
    check_same(['multi' => ['acquired' => 1, 'waits' => 2]], counted_by_class(function () use ($multi, $holder) {
        $helper = fork(function () use ($holder) {
            foreach (['b', 'c'] as $next) {
                usleep(200000);
                $holder->say('release');
            }
            return 0;
        });
        check($multi->acquire(true, PATIENCE), 'acquired in the end');
        $helper->ending();
    }), "$name: after two waits");
    $multi->release();
    $holder->ending();
    check_same(['multi' => ['acquired' => 1]], counted_by_class(fn () => $multi->synchronized(fn () => 1)), "$name: synchronized()");
}

/* Losses. */
$lose = fn () => $server->command('DEL', 'a');
$multi = multi_lock($stores['Redis'](), ['a', 'b', 'c']);
foreach ([
    'isAcquired' => fn () => outcome($multi->isAcquired(...)),
    'refresh' => fn () => outcome($multi->refresh(...)),
] as $method => $call) {
    check($multi->acquire(), "$method(): acquired");
    $lose();
    check_same(['multi' => ['lost' => 1]], counted_by_class(fn () => [$call(), $call(), $multi->isAcquired()]), "$method(): lost");
    $multi->release();
}
check_same(['multi' => ['acquired' => 1, 'lost' => 2]], counted_by_class(function () use ($stores) {
    outcome(fn () => multi_lock($stores['Redis'](), ['x', 'y'], 0.2)->synchronized(fn () => usleep(400000)));
}), 'synchronized(): both lost');
$multi = multi_lock($stores['Redis'](), ['a', 'b', 'c'], 0.6)->keepAlive();
$multi->acquire();
check_same(['multi' => ['lost' => 1]], counted_by_class(function () use ($lose, $multi) {
    $lose();
    wait_until(fn () => !$multi->isHeld(), 'its renewal finds it lost');
    $multi->isAcquired();
    $multi->release();
}), 'kept alive');

/* A child that is forked in the middle of an acquire counts anew. */
$store = new class($directory) extends RecordingStore {
    public ?Closure $call = null;

    public function save(Latch\Key $key): void
    {
        parent::save($key);
        ($this->call ?? fn () => 0)();
    }
};
$lock = (new LockFactory(new RecordingStore($directory)))->createLock('f1');
$multi = multi_lock($store, ['f1', 'f2']);
$lock->acquire();
check(!$multi->acquire(true, 0.2), 'a wait before the fork');
$lock->release();
$store->call = function () use ($store) {
    $store->call = null;
    $child = pcntl_fork();
    if ($child === 0) {
        $statistics = MultiLock::getStatistics();
        posix_kill(posix_getpid(), array_sum($statistics) === 0.0 ? SIGUSR1 : SIGUSR2);
    }
    pcntl_waitpid($child, $status);
    check_same(SIGUSR1, pcntl_wtermsig($status), 'the child has counted nothing');
};
check($multi->acquire(), 'acquired by the parent');
echo "done\n";
--EXPECT--
done
