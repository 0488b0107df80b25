--TEST--
Ten thousand members are acquired, renewed and released, and have fencing tokens of their own
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\LockFactory;
use Latch\Store\{InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$redis = new RedisStore($server->dsn());
$names = array_map(fn (int $number) => "r$number", range(1, 10000));
shuffle($names);
foreach (['memory' => new InMemoryStore(), 'Redis' => $redis] as $case => $store) {
    $factory = new LockFactory($store);
    $multi = $factory->createMultiLock($names);
    check($multi->acquire(true, PATIENCE), "$case: acquired");
    check($multi->isHeld() && $multi->isAcquired(), "$case: held");
    check(!$factory->createLock('r1')->acquire() && !$factory->createLock('r9999')->acquire(), "$case: taken");
    $multi->refresh();
    $multi->release();
    check($factory->createLock('r1')->acquire() && $factory->createLock('r9999')->acquire(), "$case: released");
    $last = $factory->createLock('r9999'); // the last but one in the order of bytes
    $last->acquire();
    check(!$multi->acquire(), "$case: one of them is taken");
    $last->release();
    check($factory->createMultiLock($names)->acquire(), "$case: the others are free");
}
/* A server that was silent for 100 ms gets the rest of the releases with the next request. */
wait_until(
    fn () => $factory->createLock('next')->acquire() && $server->command('KEYS', 'r*') === [],
    'nothing is left in Redis'
);

$multi = multi_lock($redis, ['7' => 'write', 'rates' => 'read', 'a' => 'write']);
check_same([7 => null, 'a' => null, 'rates' => null], $multi->getFencingTokens(), 'tokens before');
$multi->acquire();
$first = $multi->getFencingTokens();
check(is_int($first[7]) && is_int($first['a']) && $first['rates'] === null, 'tokens of writers');
$multi->release();
$multi->acquire();
check($multi->getFencingTokens()[7] > $first[7] && $multi->getFencingTokens()['a'] > $first['a'], 'they grow');
echo "done\n";
--EXPECT--
done
