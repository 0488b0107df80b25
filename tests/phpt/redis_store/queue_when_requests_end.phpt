--TEST--
RedisStore: a request that ends while it waits leaves the queue, at its head and in its middle
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_queue.inc';

use Latch\Tests\RedisServer;

function processor_time(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']
        + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

$server = new RedisServer();
$queue = new Queue($server);
$lock = redis_lock($server);

$ends = [
    'exit' => ['exit 3', fn () => exit(3)],
    'fatal error' => ['exit 255', fn () => @trigger_error('on purpose', E_USER_ERROR)],
    'out of memory' => ['exit 255', fn () => ini_set('memory_limit', '8M') . str_repeat('x', 64 << 20)],
    'exception' => ['exit 255', fn () => throw new Exception('on purpose')],
    'time limit' => ['exit 255', function () {
        set_time_limit(1);
        // The processor's time counts, and is over when this handler is: also for the kernel's timer, which
        // counts ticks, and where the host takes some away has fewer than getrusage() knows of.
        for ($start = processor_time(); processor_time() < $start + 2;) {
            hash('sha256', 'x');
        }
    }],
];
if (getenv('USE_ZEND_ALLOC') === '0') {
    unset($ends['out of memory']); // nothing is limited
}
foreach ($ends as $end => [$ending, $call]) {
    $places = ['a' => 'at the head', 'b' => 'in the middle', 'd' => 'at the end'];
    // two seconds of the processor each
    foreach ($end === 'time limit' ? ['a' => $places['a']] : $places as $who => $where) {
        $case = "$end $where";
        $lock->acquire();
        foreach (['a', 'b', 'c', 'd'] as $name) {
            $queue->add($name, $name !== $who ? null : function () use ($call) {
                pcntl_async_signals(true);
                pcntl_signal(SIGUSR1, $call);
            });
        }
        $child = $queue->waiters[$who];
        unset($queue->waiters[$who]);
        $child->kill(SIGUSR1);
        check_same($ending, $child->ending(), "$case: it ends");
        /* It is not awaited that the server hears of it. */
        wait_until(fn () => $queue->length() === 3, "$case: it has left the queue");
        $lock->release();
        check_same(array_values(array_diff(['a', 'b', 'c', 'd'], [$who])), $queue->drain($case), $case);
        $queue->check_nothing_is_left($case);
    }

    /* The lock is its already, and it does not know: nobody waits until that is over. */
    $case = "$end with the lock handed over";
    $lock->acquire();
    $queue->add('a', function () use ($call) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, $call);
    });
    $queue->fill('b');
    $child = $queue->waiters['a'];
    unset($queue->waiters['a']);
    $child->kill(SIGSTOP);
    $child->kill(SIGUSR1);
    $lock->release();
    check_same(1, $queue->length(), "$case: it is handed over");
    $child->kill(SIGCONT);
    $ended = $child->ending();
    if ($ended !== $ending) {
        check_same('exit 0', $ended, "$case: it ends");
    }
    check_same(['b'], $queue->drain($case), $case);
    $queue->check_nothing_is_left($case);
}
echo "done\n";
--EXPECT--
done
