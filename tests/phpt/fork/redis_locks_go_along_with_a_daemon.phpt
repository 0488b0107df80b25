--TEST--
A lock in Redis without automatic release goes on in a daemon, on a connection of its own
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (['exit' => fn () => exit(0), 'throw' => fn () => throw new Exception(),
    'kill' => fn () => posix_kill(posix_getpid(), SIGKILL)] as $how => $leave) {
    foreach (['acquire', 'acquireRead'] as $acquire) {
        $case = "$how, $acquire";
        $starter = fork(function (ParentLine $parent) use ($server, $leave, $acquire) {
            $lock = new Lock(new Key('r'), new RedisStore($server->dsn()), 100, false);
            $automatic = redis_lock($server, '?prefix=automatic:');
            $lock->$acquire();
            $automatic->acquire();
            if (pcntl_fork() > 0) {
                return $leave();
            }
            posix_setsid();
            $parent->say('daemon ' . getmypid());
            $parent->hear_exactly('go on');
            check(!$automatic->isHeld(), 'what releases automatically was the parent\'s');
            check($lock->isAcquired(), 'the daemon has the lock');
            $lock->refresh(200);
            $parent->say($lock->isHeld() ? 'held' : 'not held');
            $parent->hear_exactly('release');
            $lock->release();
            check(!$lock->isAcquired() && !$lock->isHeld(), 'the daemon has it no more');
            check($lock->acquire(), 'and can take it again');
            $lock->release();
            $parent->say('released');
            $parent->stay();
        });
        do {
            $heard = (string) $starter->hear();
        } while (str_starts_with($heard, 'died of'));
        check(str_starts_with($heard, 'daemon '), "$case: the daemon lives");
        $starter->ending();
        check_same($acquire === 'acquire' ? 'a writer' : '1 readers', holders($server), "$case: its holders");
        check_same($how === 'kill', !$server->lacks('automatic:r'), "$case: the parent's other lock");
        $server->command('DEL', 'automatic:r');
        $starter->say('go on');
        do {
            $heard = (string) $starter->hear();
        } while (str_starts_with($heard, 'died of'));
        check_same('held', $heard, "$case: the daemon");
        check($server->command('PTTL', 'r') > 150000, "$case: the daemon has renewed it");
        check(!redis_lock($server)->acquire(), "$case: it excludes");
        $starter->say('release');
        $starter->hear_exactly('released');
        check($server->lacks('r'), "$case: the daemon has released it");
        $starter->let_go();
    }
}
echo "done\n";
--EXPECT--
done
