--TEST--
A lock in three servers is renewed in all of them, outlives the death of one, and no more
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, RedisStore};
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\RedisServer;

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$store = new CombinedStore(array_map(
    fn (RedisServer $server) => new RedisStore($server->dsn()),
    $servers
), new ConsensusStrategy());
$losses = new Losses();

$lock = (new Lock($key = new Key('r'), $store, TTL))->keepAlive()->onLost($losses->note('lost'));
/* Two of three are enough, so that the third is not waited for, which may not even be connected. */
wait_until(function () use ($lock, $servers) {
    $lock->release();
    check($lock->acquire(), 'acquired');
    usleep(10000);
    return array_filter($servers, fn (RedisServer $server) => $server->lacks('r')) === [];
}, 'all of them have it');
foreach ($servers as $server) {
    wait_until_renewed($server);
}
check($lock->isHeld() && $lock->getRemainingLifetime() > 0, 'held');
check($lock->getRemainingLifetime() <= TTL, 'for its time at most');
check_same(2, thread_count(getmypid()), 'threads');

$servers[0]->stop();
sleep(2 * (int) TTL);
check($lock->isHeld() && !$lock->isExpired(), 'held by two of three');
check_same([], $losses->told, 'losses');

$servers[1]->command('DEL', 'r');
$losses->await('lost');
check(!$lock->isHeld(), 'not held by one of three');
$lock->release();
wait_until(fn () => $servers[2]->lacks('r'), 'nothing is left');
check_same(1, Lock::getStatistics()['lost'], 'lost');

check($lock->acquire(), 'acquired again, in two of three');
wait_until_renewed($servers[1]);
wait_until_renewed($servers[2]);
unset($lock, $key);
wait_until(fn () => $servers[1]->lacks('r') && $servers[2]->lacks('r'), 'released');
echo "done\n";
--EXPECT--
done
