--TEST--
CombinedStore: a wait with a timeout is a conflict if enough members say that others hold the lock, else an exception
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_outage.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, RedisStore};
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\RedisServer;

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$quorum = fn (): Lock => new Lock(new Key('r'), new CombinedStore(
    array_map(fn (RedisServer $server): RedisStore => new RedisStore($server->dsn()), $servers),
    new ConsensusStrategy(),
));
$lock = $quorum();
$other = $quorum();

/* Nobody holds it, and two of three do not answer. */
check($lock->acquire(), 'all are there');
$lock->release();
$servers[0]->freeze();
$servers[1]->freeze();
$said = end_of_wait(fn () => $lock->acquire(true, 0.3));
check(preg_match('/: Redis at ADDRESS did not answer in time\.$/', $said) === 1, "two are silent: $said");
$said = end_of_wait(fn () => $lock->synchronized(fn () => exit("BROKEN\n"), 0.3));
check(str_contains($said, 'Redis at ADDRESS'), "two are silent, synchronized: $said");
$servers[0]->thaw();
$servers[1]->thaw();
check($lock->acquire(true, PATIENCE), 'all are back');
$lock->release();

/* It is held, and one of three is away: known by two. */
/* A quorum does not await its last member, whose answer may stay unread: then once more. */
wait_until(function () use ($other, $servers): bool {
    check($other->acquire(true, PATIENCE), 'held by the other one');
    for ($tries = 100; $tries > 0; $tries--) {
        if (array_filter($servers, fn (RedisServer $server): bool => $server->lacks('r')) === []) {
            return true;
        }
        usleep(10_000);
    }
    $other->release();
    return false;
}, 'it is held in all members');
$servers[0]->stop();
foreach ([0.3, 0.0, 0.3, 0.0] as $timeout) {
    expect_end('false', fn () => $lock->acquire(true, $timeout), 'held, and one is away');
}
/* Two are away: only one says so, which is not enough. */
$servers[1]->stop();
$said = end_of_wait(fn () => $lock->acquire(true, 0.3));
check(str_contains($said, 'cannot connect to Redis at ADDRESS: Connection refused'), "two are away: $said");
$said = end_of_wait(fn () => $lock->acquire(true, 0.0));
check(str_contains($said, 'cannot connect to Redis at ADDRESS: Connection refused'), "two are away, no time: $said");
check_same('false', end_of_wait(fn () => $lock->acquire()), 'without a timeout as Symfony has it');
echo "done\n";
--EXPECT--
done
