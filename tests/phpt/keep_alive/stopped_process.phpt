--TEST--
A process that was stopped for longer than its lock lives knows at once that it has lost it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (['isHeld()' => false, 'release()' => true] as $first => $releases) {
    $child = fork(function (ParentLine $parent) use ($server, $releases) {
        $logger = new Logger();
        $lock = short_lock($server, ttl: 2);
        $lock->setLogger($logger);
        $lock->keepAlive();
        check($lock->acquire(), 'acquired');
        wait_until_renewed($server);
        $logger->take();
        $parent->say('held');
        posix_kill(posix_getpid(), SIGSTOP);
        if ($releases) {
            $lock->release();
        } else {
            $parent->say($lock->isHeld() ? 'held' : 'not held');
        }
        $parent->say(implode(', ', $logger->take()));
        check(!$lock->isHeld() && !$lock->isAcquired(), 'not held');
        $lock->release();
        $parent->say('lost: ' . Latch\Lock::getStatistics()['lost']);
        $parent->hear_exactly('end');
        return 0;
    });
    $child->hear_exactly('held');
    wait_until(fn () => preg_match('/^State:\s+T/m', file_get_contents("/proc/$child->pid/status")) === 1, 'it is stopped');
    $other = redis_lock($server);
    check($other->acquire(true, PATIENCE), "$first: another one gets it");
    $token = $server->command('ZRANGE', 'r', 0, -1);
    $child->kill(SIGCONT);
    if (!$releases) {
        $child->hear_exactly('not held');
    }
    $heard = (string) $child->hear();
    check(str_contains($heard, 'notice: The "<r>" lock was lost.'), "$first: what is logged: $heard");
    check_same($releases, str_contains($heard, 'notice: Released the "<r>" lock, which had been lost'), "$first: $heard");
    $child->hear_exactly('lost: 1');
    check_same($token, $server->command('ZRANGE', 'r', 0, -1), "$first: the new owner is left alone");
    check($other->isHeld() && $other->isAcquired(), "$first: and holds it");
    $child->say('end');
    check_same('exit 0', $child->ending(), "$first: the ending");
    check($other->isAcquired(), "$first: also when the process has ended");
    $other->release();
}
echo "done\n";
--EXPECT--
done
