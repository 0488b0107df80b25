--TEST--
CountDown::await(): the end is told by a message, where there are messages; handlers, exceptions, restarts and forks meanwhile
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Store\{InMemoryStore, RedisStore};
use Latch\SyncFactory;
use Latch\Tests\RedisServer;

pcntl_async_signals(true);
$server = new RedisServer();
$waiters = fn (string $name): int => count(array_filter(
    $server->command('HKEYS', "latch:count:$name"),
    fn (string $field): bool => str_starts_with($field, 'w ')
));
$other = fn (): SyncFactory => new SyncFactory(new RedisStore($server->dsn('?persistent_id=other')));

/* Each is told, and asks seldom until then. */
$count = $other()->createCountDown('told');
$count->open(['a'], 'p');
$children = [];
foreach (range(1, 5) as $number) {
    $children[] = fork(function (ParentLine $parent) use ($server) {
        $count = (new SyncFactory(new RedisStore($server->dsn())))->createCountDown('told');
        return $count->await() ? 0 : 1;
    });
}
wait_until(fn () => $waiters('told') === 5, 'five wait');
$begun = hrtime(true);
$asked = $server->count('evalsha') + $server->count('eval');
usleep(1_500_000);
$asked = $server->count('evalsha') + $server->count('eval') - $asked;
$seconds = (hrtime(true) - $begun) / 1e9;
check($asked <= 5 * 2 * (1 + $seconds), "five waiters have asked $asked times in $seconds s");
$count->arrive('a');
$count->done();
check_same(0, $waiters('told'), 'nobody is to be told any more');
foreach ($children as $child) {
    check_same('exit 0', $child->ending(), 'told of the end');
}

/* Handlers run meanwhile, may use the same factory, and may leave. */
foreach (sync_factories($server) as $name => $factory) {
    $count = $factory->createCountDown("handler-$name");
    $count->open(['a', 'b']);
    $calls = 0;
    pcntl_signal(SIGALRM, function () use ($count, &$calls) {
        $count->arrive(++$calls === 1 ? 'a' : 'b');
        pcntl_alarm($calls === 1 ? 1 : 0);
    });
    pcntl_alarm(1);
    check_same([true, 2], [$count->await(), $calls], "$name: ended by a handler");

    $count = $factory->createCountDown("left-$name");
    $count->open(['a']);
    pcntl_signal(SIGALRM, fn () => throw new RuntimeException('enough'));
    pcntl_alarm(1);
    try {
        $count->await();
        check(false, "$name: the handler's exception leaves it");
    } catch (RuntimeException $e) {
        check_same('enough', $e->getMessage(), "$name: the handler's exception leaves it");
    }
    check_same([false, 0, true], [$count->await(0.05), $count->arrive('a')->left, $count->await()], "$name: and all goes on");
}

/* A child that is forked during a wait waits by itself, and one that exits leaves its parent's alone. */
$count = $other()->createCountDown('forks');
$count->open(['a']);
$parent = fork(function (ParentLine $line) use ($server) {
    $count = (new SyncFactory(new RedisStore($server->dsn())))->createCountDown('forks');
    $children = [];
    pcntl_signal(SIGUSR1, function () use (&$children, $line) {
        $children[] = pcntl_fork();
        if (end($children) === 0) {
            $children = [];
            return;
        }
        $line->say('forked');
    });
    pcntl_signal(SIGUSR2, function () use ($line) {
        if (pcntl_fork() === 0) {
            exit(7);
        }
        pcntl_wait($status);
        $line->say(pcntl_wexitstatus($status) === 7 ? 'one has left' : 'how that?');
    });
    $line->say('waits');
    $result = $count->await(PATIENCE);
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
        $result = $result && $status === 0;
    }
    return $result ? 0 : 1;
});
$parent->hear_exactly('waits');
wait_until(fn () => $waiters('forks') === 1, 'it waits');
$parent->kill(SIGUSR2);
$parent->hear_exactly('one has left');
$parent->kill(SIGUSR1);
$parent->hear_exactly('forked');
wait_until(fn () => $waiters('forks') === 2, 'its child does, too');
$count->arrive('a');
check_same('exit 0', $parent->ending(), 'both are told');

/* A server that is away for a moment, and one that has forgotten it. */
$count = $other()->createCountDown('restart');
$count->open(['a'], 'p');
$waits = function (ParentLine $line) use ($server) {
    $count = (new SyncFactory(new RedisStore($server->dsn())))->createCountDown('restart');
    try {
        return $count->await(PATIENCE) ? 0 : 1;
    } catch (\Latch\Exception\InvalidArgumentException) {
        return 2;
    } catch (\Latch\Exception\LockStorageException) {
        return 3;
    }
};
$child = fork($waits);
wait_until(fn () => $waiters('restart') === 1, 'it waits');
$server->restartWithData();
wait_until(fn () => $other()->createCountDown('restart')->arrive('a')->left === 0, 'all are there');
$other()->createCountDown('restart')->done();
$ending = $child->ending();
check(in_array($ending, ['exit 0', 'exit 3'], true), "after a restart with the data: $ending");

$other()->createCountDown('restart')->await();
$server->command('FLUSHALL');
$other()->createCountDown('restart')->open(['a']);
$child = fork($waits);
wait_until(fn () => $waiters('restart') === 1, 'it waits');
$server->command('FLUSHALL');
check_same('exit 2', $child->ending(), 'it is not there any more');
echo "done\n";
?>
--EXPECT--
done
