--TEST--
A lock without automatic release goes on in a daemon, which releases it by hand
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$store = new RecordingStore($directory);
foreach (['exit' => fn () => exit(0), 'return' => fn () => 0, 'throw' => fn () => throw new Exception(),
    'kill' => fn () => posix_kill(posix_getpid(), SIGKILL)] as $how => $leave) {
    foreach (['acquire', 'acquireRead'] as $acquire) {
        $store->forget_calls();
        $starter = fork(function (ParentLine $parent) use ($directory, $store, $leave, $acquire) {
            $locks = [
                new Lock(new Key('file'), new FlockStore($directory), null, false),
                new Lock(new Key('php'), $store, null, false),
            ];
            foreach ($locks as $lock) {
                $lock->$acquire();
            }
            if (pcntl_fork() > 0) {
                return $leave();
            }
            // the daemon
            posix_setsid();
            $parent->say('daemon ' . getmypid());
            $parent->hear_exactly('release');
            foreach ($locks as $lock) {
                check($lock->isAcquired(), 'the daemon has the lock');
                // it is left as it is, since it was held before
                check_same(1, $lock->synchronized(fn () => 1), 'the daemon uses it');
                check($lock->isAcquired(), 'the daemon still has the lock');
                $lock->release();
                check(!$lock->isAcquired() && !$lock->isHeld(), 'the daemon has it no more');
            }
            // and can use the same objects on
            foreach ($locks as $lock) {
                check($lock->acquire(), 'taken again');
                $lock->release();
            }
            $parent->say('released');
            $parent->stay();
        });
        do {
            $heard = (string) $starter->hear();
        } while (str_starts_with($heard, 'died of'));
        check(str_starts_with($heard, 'daemon '), 'the daemon lives');
        $starter->ending();
        check(posix_kill((int) substr($heard, 7), 0), 'the daemon lives on');
        check(!is_free($directory, 'file'), "held by the daemon when its parent is gone ($how)");
        check($store->is_locked('php'), "held in the PHP store when the parent is gone ($how)");
        check_same(0, $store->count_calls('delete'), "calls of delete() ($how)");
        $starter->say('release');
        do {
            $heard = (string) $starter->hear();
        } while (str_starts_with($heard, 'died of'));
        check_same('released', $heard, 'the daemon answers');
        check(is_free($directory, 'file'), "released by the daemon ($how)");
        check(!$store->is_locked('php'), "released in the PHP store by the daemon ($how)");
        $starter->let_go();
    }
}
echo "done\n";
--EXPECT--
done
