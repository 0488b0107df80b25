--TEST--
RedisStore: signal handlers run while a command is slow, and may throw; what it did is then put right
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\RedisServer;

class FromHandler extends Exception
{
}

pcntl_async_signals(true);
$server = new RedisServer();
$main = getmypid();

$await_sleep = fn () => wait_until(
    fn () => preg_match('/^State:\s+S/m', (string) @file_get_contents("/proc/$main/status")) === 1
        && str_contains((string) @file_get_contents("/proc/$main/wchan"), 'poll'),
    'the other process waits for its answer'
);

/* Signals the main process once it sleeps with its command unanswered; then lets the server go on. */
$signaller = fn (bool $first_the_signal) => fork(function (ParentLine $parent) use ($server, $main, $await_sleep, $first_the_signal) {
    $parent->hear_exactly('now');
    $await_sleep();
    if ($first_the_signal) {
        posix_kill($main, SIGUSR1);
        $parent->hear_exactly('handled');
    } else {
        posix_kill($main, SIGUSR1);
    }
    $server->thaw();
    return 0;
});

foreach (['free' => null, 'held' => 'acquire', 'shared' => 'acquireRead'] as $state => $before) {
    foreach ([
        'acquire' => fn ($lock) => $lock->acquire(),
        'acquire and wait' => fn ($lock) => $lock->acquire(true),
        'acquireRead' => fn ($lock) => $lock->acquireRead(),
        'isAcquired' => fn ($lock) => $lock->isAcquired(),
        'release' => fn ($lock) => $lock->release(),
    ] as $name => $call) {
        foreach ([false, true] as $throws) {
            $case = "$name, $state, " . ($throws ? 'throws' : 'returns');
            $lock = redis_lock($server, '?read_timeout=20');
            $lock->acquire();
            $lock->release();
            if ($before !== null) {
                $lock->$before();
            }
            $child = $signaller(!$throws);
            $handled = 0;
            pcntl_signal(SIGUSR1, function () use ($child, $throws, &$handled) {
                $handled++;
                if ($throws) {
                    throw new FromHandler();
                }
                $child->say('handled');
            });
            $server->freeze();
            $child->say('now');
            try {
                $outcome = $call($lock);
            } catch (FromHandler) {
                $outcome = 'FromHandler';
            }
            check_same('exit 0', $child->ending(), "$case: the signaller");
            check_same(1, $handled, "$case: how often the handler ran");
            if ($throws) {
                check_same('FromHandler', $outcome, "$case: it throws");
                if (str_starts_with($name, 'acquire') && $before === null) {
                    check(!$lock->isHeld(), "$case: nothing is taken");
                    wait_until(fn () => holders($server) === 'nobody', "$case: the server forgets what was taken");
                }
            } elseif ($name !== 'release') {
                check_same($name !== 'isAcquired' || $before !== null, $outcome, "$case: it returns");
            }
            pcntl_signal(SIGUSR1, SIG_DFL);
            check_usable($server, $lock, $case);
            unset($lock, $child);
        }
    }
}

/* A handler has thrown, and the command is carried out to its end: what comes now has to wait, but asleep. */
$lock = redis_lock($server, '?read_timeout=20');
check($lock->acquire(), 'acquired');
$child = fork(function (ParentLine $parent) use ($server, $main, $await_sleep) {
    $parent->hear_exactly('now');
    $await_sleep();
    posix_kill($main, SIGUSR1);
    $parent->hear_exactly('handled');
    posix_kill($main, SIGUSR1);
    $await_sleep();
    $server->thaw();
    return 0;
});
$handled = 0;
pcntl_signal(SIGUSR1, function () use ($child, &$handled) {
    if ($handled++ === 0) {
        $child->say('handled');
        throw new FromHandler();
    }
});
$server->freeze();
$child->say('now');
try {
    $lock->refresh(10);
    echo "BROKEN: nothing was thrown\n";
} catch (FromHandler) {
}
check_same('exit 0', $child->ending(), 'a second signal');
pcntl_signal(SIGUSR1, SIG_DFL);
check_usable($server, $lock, 'a second signal');
echo "done\n";
--EXPECT--
done
