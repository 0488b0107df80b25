--TEST--
CombinedStore: a lock is kept alive also in a combined store within another
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, RedisStore};
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\RedisServer;

const TTL_S = 2;

$server = new RedisServer();
$combine = static fn (array $members): CombinedStore => new CombinedStore($members, new ConsensusStrategy());
$member = static fn (int $database): RedisStore => new RedisStore($server->dsn("/$database"));

$lock = new Lock(
    new Key('r'),
    $combine([$combine([$member(1), $member(2)]), $combine([$member(3)]), $member(4)]),
    TTL_S,
);
check($lock->keepAlive()->acquire(), 'it is acquired');
$end = hrtime(true) + 2 * TTL_S * 1e9;
wait_until(static fn (): bool => !$lock->isHeld() || hrtime(true) > $end, 'it was to have ended twice');
check($lock->isHeld() && $lock->isAcquired(), 'it is held for longer than its TTL');
$lock->release();
check(!$lock->isHeld() && !$lock->isAcquired(), 'it is released');

echo "done\n";
?>
--EXPECT--
done
