--TEST--
RedisStore: waiters and holders that are killed, or stopped, keep nobody else waiting for longer than a moment
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_queue.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$queue = new Queue($server);
$lock = redis_lock($server);

$case = 'killed at the head and in the middle';
$lock->acquire();
$queue->fill('a', 'b', 'c', 'd', 'e', 'f');
foreach (['a', 'c', 'd'] as $name) {
    $queue->kill($name);
}
$lock->release();
check_same(['b', 'e', 'f'], $queue->drain($case), $case);
$queue->check_nothing_is_left($case);

$case = 'all are killed';
$lock->acquire();
$queue->fill('a', 'b');
$queue->kill('a');
$queue->kill('b');
$lock->release();
check_same(0, $queue->length(), "$case: whoever releases finds that out");
check($lock->acquire(), "$case: the lock is free");
$lock->release();
$queue->check_nothing_is_left($case);

$case = 'killed with the lock handed over';
$lock->acquire();
$queue->fill('a', 'b');
$queue->waiters['a']->kill(SIGSTOP);
$lock->release();
check_same('a writer', holders($server), "$case: it is handed over");
$queue->kill('a');
check_same(['b'], $queue->drain($case), $case);
$queue->check_nothing_is_left($case);

$case = 'stopped at the head and in the middle';
$lock->acquire();
$queue->fill('a', 'b', 'c', 'd');
$stopped = [$queue->waiters['a'], $queue->waiters['c']];
array_map(fn ($child) => $child->kill(SIGSTOP), $stopped);
$lock->release();
foreach (['b', 'd'] as $name) {
    check_same($name, $queue->next($case), "$case: who goes on");
    $queue->release($name);
}
array_map(fn ($child) => $child->kill(SIGCONT), $stopped);
$order = $queue->drain($case);
sort($order);
check_same(['a', 'c'], $order, "$case: who went on late");
$queue->check_nothing_is_left($case);

$case = 'stopped for too long to claim';
$lock->acquire();
$queue->fill('a', 'b', 'c');
$queue->waiters['a']->kill(SIGSTOP);
$lock->release();
check_same('b', $queue->next($case), "$case: the next has it");
$queue->waiters['a']->kill(SIGCONT);
wait_until(fn () => $queue->length() === 2, "$case: it queues again");
$queue->release('b');
check_same(['a', 'c'], $queue->drain($case), "$case: in front");
$queue->check_nothing_is_left($case);

foreach (['acquire', 'acquireRead'] as $acquire) {
    $case = "a holder is killed, $acquire";
    $holder = fork(function (ParentLine $parent) use ($server, $acquire) {
        $lock = new Lock(new Key('r'), new RedisStore($server->dsn()), 2.0);
        $lock->$acquire();
        $parent->say('held');
        $parent->stay();
    });
    $holder->hear_exactly('held');
    $queue->fill('a', 'b');
    $holder->kill();
    check_same('signal 9', $holder->ending(), "$case: it is");
    check_same(['a', 'b'], $queue->drain($case), $case);
    $queue->check_nothing_is_left($case);
}
echo "done\n";
--EXPECT--
done
