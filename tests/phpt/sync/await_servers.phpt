--TEST--
CountDown::await(): many processes, some with the connections of their parent; a server that comes back, a failover
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';
require __DIR__ . '/../../utils/redis_sentinel.inc';

use Latch\Store\RedisStore;
use Latch\SyncFactory;
use Latch\Tests\{RedisServer, RedisTrio};

const WAITERS = 16;

/** How many waiters the server is to tell. */
function waiters(RedisServer $server): int
{
    return count(preg_grep('/^w /', $server->command('HKEYS', 'latch:count:r')));
}

/** Forks a process that exits with what `wait` returns, or 99 after an exception. */
function waiter(Closure $wait): int
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        try {
            $status = (int) $wait();
        } catch (Throwable $exception) {
            echo $exception->getMessage(), "\n";
            $status = 99;
        }
        exit($status);
    }
    return $pid;
}

function ended(int $pid): int
{
    pcntl_waitpid($pid, $status);
    return pcntl_wexitstatus($status);
}

$server = new RedisServer();
$store = fn () => new RedisStore($server->dsn());
$count = (new SyncFactory($store()))->createCountDown('r');

/* Many processes, some of which have the connections of their parent. */
$count->open(['a'], 'p');
check_same(false, $count->await(0.05), 'a short time');
$children = [];
for ($at = 0; $at < WAITERS; $at++) {
    $children[] = waiter(fn () => ($at % 2 === 0 ? $count : (new SyncFactory($store()))->createCountDown('r'))->await());
}
wait_until(fn () => waiters($server) >= WAITERS, 'all wait');
$count->arrive('a');
check(waiters($server) >= WAITERS, 'the last step is to be done');
$count->done();
check_same(0, waiters($server), 'all are told');
check_same(array_fill(0, WAITERS, 1), array_map(ended(...), $children), 'all have returned');

/* A server that comes back with its data. */
$server->command('FLUSHALL');
$count = (new SyncFactory($store()))->createCountDown('r');
$count->open(['a']);
$child = waiter(fn () => (new SyncFactory($store()))->createCountDown('r')->await());
wait_until(fn () => waiters($server) === 1, 'it waits');
$server->restartWithData();
wait_until(fn () => outcome(fn () => $count->arrive('a')->left) === '0', 'the last arrives');
check_same(1, ended($child), 'the wait has gone on');

/* A failover. */
$trio = new RedisTrio();
$sentinel = fn () => (new SyncFactory(new RedisStore($trio->dsn('&timeout=30&read_timeout=30'))))->createCountDown('r');
$count = $sentinel();
$count->open(['a']);
$child = waiter(fn () => $sentinel()->await());
wait_until(fn () => waiters($trio->servers[0]) === 1, 'it waits at the first master');
$trio->awaitReplicas($trio->servers[0]);
$trio->failOver();
check_same(0, $count->arrive('a')->left, 'at the second');
check_same(1, ended($child), 'and the waiter is told');
echo "done\n";
?>
--EXPECT--
done
