--TEST--
Waits for permits end in their order, by time-outs and by signals, and leave nothing behind
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\InMemoryStore;
use Latch\Tests\RedisServer;

class FromHandler extends Exception
{
}

pcntl_async_signals(true);
$server = new RedisServer();

/** A process that waits for permits; says "held" when it has them, and ends when it is told anything. */
$waiter = function (int $limit, int $weight, ?callable $prepare = null) use ($server): Child {
    $before = permit_queue($server);
    $child = fork(function (ParentLine $parent) use ($server, $limit, $weight, $prepare) {
        $prepare !== null && $prepare();
        $semaphore = redis_semaphore($server, $limit, $weight);
        $semaphore->acquire(true);
        $parent->say('held');
        $parent->hear();
        $semaphore->release();
        return 0;
    });
    wait_until(fn () => permit_queue($server) === $before + 1, 'it waits');
    return $child;
};
$silent = function (Child $child): bool {
    $read = [$child->socket];
    $none = null;
    return !stream_select($read, $none, $none, 0, 200000);
};

/* First come, first served; what is freed goes on to the next. A heavy one in front is not overtaken by light ones. */
[$one, $two, $three] = [redis_semaphore($server, 3), redis_semaphore($server, 3), redis_semaphore($server, 3)];
check($one->acquire() && $two->acquire() && $three->acquire(), 'all are held');
$heavy = $waiter(3, 2);
$light = $waiter(3, 1);
$one->release();
check($silent($heavy) && $silent($light), 'one is not enough for the first');
check(!redis_semaphore($server, 3)->acquire(), 'nor does somebody who does not wait get it');
$two->release();
$heavy->hear_exactly('held');
check($silent($light) && permits_held($server) === 3, 'two are');
$heavy->say('end');
$light->hear_exactly('held');
$light->say('end');
check_same(['exit 0', 'exit 0'], [$heavy->ending(), $light->ending()], 'endings');
check_same(1, permits_held($server), 'held in the end');

/* Several at once. */
$three->release();
$all = redis_semaphore($server, 3, 3);
$all->acquire();
$waiters = [$waiter(3, 1), $waiter(3, 1), $waiter(3, 1)];
$all->release();
foreach ($waiters as $child) {
    $child->hear_exactly('held');
}
check_same(3, permits_held($server), 'three have one each');
array_map(fn (Child $child) => $child->say('end'), $waiters);
array_map(fn (Child $child) => $child->ending(), $waiters);

/* Time-outs. */
$all->acquire();
$memory = new InMemoryStore();
($held = new Semaphore(new Key('s', 1), $memory))->acquire();
$php = new RecordingPermitStore(temporary_directory());
($kept = new Semaphore(new Key('s', 1), $php))->acquire();
foreach ([
    'Redis' => redis_semaphore($server, 3),
    'memory' => new Semaphore(new Key('s', 1), $memory),
    'PHP' => new Semaphore(new Key('s', 1), $php),
] as $name => $semaphore) {
    foreach ([0, 0.3] as $timeout) {
        $begun = hrtime(true);
        check_same(false, $semaphore->acquire(true, $timeout), "$name: in vain for $timeout s");
        $waited = (hrtime(true) - $begun) / 1e9;
        check($waited >= $timeout && $waited < $timeout + PATIENCE / 10, "$name: it waited $waited s");
        check(!$semaphore->isHeld() && !$semaphore->isAcquired(), "$name: it has nothing");
    }
}
unset($kept, $semaphore);
check_same([0, 3], [permit_queue($server), permits_held($server)], 'nobody waits any more');

/* Signals. */
$interrupted = function (callable $handler) use ($server, $waiter): Child {
    $child = $waiter(3, 1, function () use ($handler) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, $handler);
    });
    $child->kill(SIGUSR1);
    return $child;
};
foreach ([
    'throws' => ['exit 255', fn () => throw new FromHandler()],
    'exits' => ['exit 3', fn () => exit(3)],
    'fails' => ['exit 255', fn () => @trigger_error('on purpose', E_USER_ERROR)],
] as $case => [$ending, $handler]) {
    $child = $interrupted($handler);
    check_same($ending, $child->ending(), "a handler that $case");
    wait_until(fn () => permit_queue($server) === 0, "a handler that $case leaves the queue");
}
$mark = temporary_directory() . '/handled';
$child = $interrupted(fn () => touch($mark));
wait_until(fn () => file_exists($mark), 'a handler runs during the wait');
check_same(1, permit_queue($server), 'and the wait goes on');
$all->release();
$child->hear_exactly('held');
$child->say('end');
$child->ending();

/* In memory: only a handler can end the wait, which without a time-out is refused. */
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore: the permits are held by this very thread, through other keys, '
    . 'so that the wait would never end; release it first, or pass a timeout.', outcome(fn () => (new Semaphore(new Key('s', 1), $memory))->acquire(true)), 'a deadlock');
pcntl_signal(SIGALRM, fn () => $held->release());
$semaphore = new Semaphore(new Key('s', 1), $memory);
pcntl_alarm(1);
check($semaphore->acquire(true, PATIENCE), 'what a handler gives back');
pcntl_signal(SIGALRM, fn () => throw new FromHandler('in the handler'));
pcntl_alarm(1);
check_same('FromHandler: in the handler', outcome(fn () => $held->acquire(true, PATIENCE)), 'a handler that throws');
check($semaphore->isHeld() && !$held->isHeld(), 'who holds in the end');

/* A dead waiter in front holds nobody up for long. */
$all->acquire();
$dead = $waiter(3, 2);
$alive = $waiter(3, 1);
$dead->kill();
$dead->ending();
$all->release();
$alive->hear_exactly('held');
$alive->say('end');
$alive->ending();
/* If the dead one was granted permits, they are free when it has not claimed them in time. */
wait_until(fn () => $all->acquire(), 'all can be had');
$all->release();
check_same([0, 0], [permit_queue($server), permits_held($server)], 'nothing is left');
echo "done\n";
--EXPECT--
done
