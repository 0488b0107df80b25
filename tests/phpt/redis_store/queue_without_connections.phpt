--TEST--
RedisStore: who waits waits on when its connections are cut, and when the server has forgotten the queue
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_queue.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$queue = new Queue($server);
$names = ['a', 'b', 'c', 'd'];

/* Each says whether the holder still has the lock. */
$faults = [
    'subscriptions cut' => function () use ($server) {
        check_same(4, $server->command('CLIENT', 'KILL', 'TYPE', 'pubsub'), 'subscriptions are cut');
        return true;
    },
    'connections cut' => function () use ($server) {
        $server->command('CLIENT', 'KILL', 'TYPE', 'normal');
        return true;
    },
    'all cut' => function () use ($server) {
        $server->command('CLIENT', 'KILL', 'TYPE', 'pubsub');
        $server->command('CLIENT', 'KILL', 'TYPE', 'normal');
        return true;
    },
    'scripts flushed' => function () use ($server) {
        $server->command('SCRIPT', 'FLUSH');
        return true;
    },
    'restarted with the data' => function () use ($server) {
        $server->restartWithData();
        return true;
    },
    'restarted without the data' => function () use ($server) {
        $server->restart();
        return false;
    },
    'all flushed' => function () use ($server) {
        $server->command('FLUSHALL');
        return false;
    },
];
foreach ($faults as $case => $strike) {
    foreach (['at once', 'when all wait again'] as $when) {
        $lock = redis_lock($server);
        check($lock->acquire(true, PATIENCE), "$case, $when: acquired before");
        $queue->fill(...$names);
        $held = $strike();
        if ($held) {
            check_same('a writer', holders($server), "$case, $when: it is held still");
            if ($when !== 'at once') {
                wait_until(fn () => $queue->length() === 4, "$case: all wait again");
            }
            $lock->release();
        }
        $order = $queue->drain("$case, $when");
        sort($order);
        check_same($names, $order, "$case, $when: who has it then");
        $queue->check_nothing_is_left("$case, $when");
        unset($lock);
    }
}

/* The queue is lost, and the lock held by somebody else: they are in it again, in about their old order. */
$lock = redis_lock($server);
$lock->acquire();
$queue->fill(...$names);
$server->command('DEL', 'latch:queue:r');
wait_until(fn () => $queue->length() === 4, 'all wait again');
$lock->release();
$order = $queue->drain('queue deleted');
sort($order);
check_same($names, $order, 'queue deleted: who has it then');
$queue->check_nothing_is_left('queue deleted');
echo "done\n";
--EXPECT--
done
