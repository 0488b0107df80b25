--TEST--
A quorum's lock that a member has lost is given back in the others when the Lock ends, whoever has noticed the loss
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, RedisStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};
use Latch\Tests\RedisServer;

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$directory = temporary_directory();
$recording = new RecordingStore($directory);
$redis = array_map(fn (RedisServer $server) => new RedisStore($server->dsn()), $servers);
/* The first two members lose the lock; is the third one free? */
$quorums = [
    'Redis' => [$redis, fn () => $servers[2]->lacks('r')],
    'flock' => [[$redis[0], $redis[1], new FlockStore($directory)], fn () => is_free($directory, 'r')],
    'PHP' => [
        [$redis[0], $redis[1], new FlockStore($directory), $recording],
        function () use ($directory): bool {
            @unlink("$directory/" . sha1('r')); // as with Symfony's, its delete() is not called
            return is_free($directory, 'r');
        },
    ],
    'nested' => [
        [$redis[0], $redis[1], new CombinedStore([$redis[2], new FlockStore($directory)], new UnanimousStrategy())],
        fn () => $servers[2]->lacks('r') && is_free($directory, 'r'),
    ],
];
/* How the loss is noticed, or not at all, before the end. */
$ways = [
    'unnoticed' => fn (Lock $lock) => null,
    'isAcquired' => fn (Lock $lock) => check(!$lock->isAcquired(), 'what isAcquired() is asked for is lost'),
    'refresh' => fn (Lock $lock) => outcome(fn () => $lock->refresh()),
    'its time has passed' => fn (Lock $lock) => wait_until(fn () => !$lock->isHeld(), 'it has expired'),
];

/** False when the machine stood still for longer than the TTL. */
function acquire_in_time(Lock $lock): bool
{
    try {
        return $lock->acquire();
    } catch (Latch\Exception\LockExpiredException) {
        return false;
    }
}

foreach ($quorums as $name => [$members, $is_free]) {
    foreach ([new ConsensusStrategy(), new UnanimousStrategy()] as $strategy) {
        foreach ($ways as $way => $notice) {
            foreach ([false, true] as $has_logger) {
                foreach ($name === 'Redis' ? [false, true] : [false] as $is_kept) {
                    $case = "$name, " . $strategy::class . ", $way" . ($has_logger ? ', logger' : '') . ($is_kept ? ', kept' : '');
                    $expires = $way === 'its time has passed';
                    $ttl = $expires ? 0.7 : 300.0;
                    $lock = new Lock($key = new Key('r'), new CombinedStore($members, $strategy), $ttl);
                    $logger = new Logger();
                    if ($has_logger) {
                        $lock->setLogger($logger);
                    }
                    if ($is_kept) {
                        $lock->keepAlive();
                    }
                    wait_until(fn () => acquire_in_time($lock), "$case: acquired");
                    /* A quorum does not await its last member: the answer of each tells that it is through. */
                    foreach ($members as $at => $member) {
                        check($member->exists($key) || $expires, "$case: in member $at, too");
                    }
                    foreach ([0, 1] as $at) {
                        $servers[$at]->command('DEL', 'r');
                    }
                    $notice($lock);
                    unset($key);
                    $logger->lines = [];
                    unset($lock);
                    wait_until($is_free, "$case: given back");
                    check(!preg_grep('/Failed/', $logger->lines), "$case: " . implode(', ', $logger->lines));
                }
            }
        }
    }
}

/* What the key holds in a member by itself is not the quorum's to give back. */
foreach ([false, true] as $has_logger) {
    $alone = new Lock($key = new Key('r'), $redis[0], 300.0);
    $other = new Lock(new Key('r'), $redis[1], 300.0);
    check($alone->acquire() && $other->acquire(), 'acquired by themselves');
    $quorum = new Lock($key, new CombinedStore($redis, new UnanimousStrategy()), 300.0);
    if ($has_logger) {
        $quorum->setLogger(new Logger());
    }
    check(!$quorum->isAcquired(), 'there is no quorum');
    unset($quorum);
    check($alone->isAcquired(), 'it stays');
    $alone->release();
    $other->release();
}
echo "done\n";
--EXPECT--
done
