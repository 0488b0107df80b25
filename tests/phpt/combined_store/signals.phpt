--TEST--
Signal handlers run while most servers of a combined store are slow, and may throw; nothing stays locked
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, RedisStore};
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\RedisServer;

class FromHandler extends Exception
{
}

pcntl_async_signals(true);
$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$main = getmypid();

/* Signals the main process once it sleeps with its commands unanswered; then lets the servers go on. */
$signaller = fn (bool $first_the_signal) => fork(function (ParentLine $parent) use ($servers, $main, $first_the_signal) {
    $parent->hear_exactly('now');
    wait_until(
        fn () => preg_match('/^State:\s+S/m', (string) @file_get_contents("/proc/$main/status")) === 1
            && str_contains((string) @file_get_contents("/proc/$main/wchan"), 'poll'),
        'the other process waits for its answers'
    );
    posix_kill($main, SIGUSR1);
    if ($first_the_signal) {
        $parent->hear_exactly('handled');
    }
    $servers[1]->thaw();
    $servers[2]->thaw();
    return 0;
});

$directory = temporary_directory();
$methods = ['native' => ['acquire', 'acquireRead', 'refresh', 'isAcquired', 'release'], 'mixed' => ['acquire', 'acquireRead']];
foreach ($methods as $kind => $tried) {
    foreach ($tried as $method) {
        foreach ([false, true] as $throws) {
            $case = "$kind, $method, " . ($throws ? 'throws' : 'returns');
            $stores = array_map(fn ($server) => new RedisStore($server->dsn('?read_timeout=20')), $servers);
            if ($kind === 'mixed') {
                array_splice($stores, 1, 0, [new RecordingStore($directory), new RecordingStore(temporary_directory())]);
            }
            $store = new CombinedStore($stores, new ConsensusStrategy());
            $lock = new Lock(new Key('a'), $store, 60);
            check($lock->acquire(), "$case: acquired");
            $lock->refresh(); // by now all have answered
            if (str_starts_with($method, 'acquire')) {
                $lock->release();
            }
            $child = $signaller($throws);
            $handled = 0;
            pcntl_signal(SIGUSR1, function () use (&$handled, $throws, $child) {
                $handled++;
                if ($throws) {
                    $child->say('handled');
                    throw new FromHandler();
                }
            });
            $servers[1]->freeze();
            $servers[2]->freeze();
            if ($kind === 'mixed') {
                (new RecordingStore($directory))->save(new Key('a')); // one more that says no
            }
            $child->say('now');
            try {
                $lock->$method();
                check(!$throws, "$case: it was to throw");
            } catch (Exception $e) {
                // What comes out of a method of a store that Lock calls is wrapped, as by Symfony's.
                check_same(FromHandler::class, get_class($e->getPrevious() ?? $e), "$case: what is thrown");
                check($throws, "$case: it was not to throw");
                unset($e);
            }
            check_same('exit 0', $child->ending(), "$case: the child");
            check_same(1, $handled, "$case: handled");
            @unlink("$directory/" . sha1('a'));
            unset($lock);
            $other = new Lock(new Key('a'), $store, 60);
            check($other->acquire(true), "$case: free in the end");
            $other->release();
            foreach ($servers as $at => $server) {
                wait_until(fn () => $server->lacks('a'), "$case: nothing is left on server $at");
            }
        }
    }
}
echo "done\n";
--EXPECT--
done
