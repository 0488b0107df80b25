--TEST--
Versions, throttles and count-downs under Sentinels and in a cluster, through a failover and with answers that are lost
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';
require __DIR__ . '/../../utils/redis_sentinel.inc';
require __DIR__ . '/../../utils/redis_cluster.inc';

use Latch\Store\RedisStore;
use Latch\SyncFactory;
use Latch\Tests\{RedisClusterServers, RedisProxy, RedisServer, RedisTrio};

/* A failover is followed. */
$trio = new RedisTrio();
$factory = new SyncFactory(new RedisStore($trio->dsn('&timeout=30&read_timeout=30')));
$version = $factory->createVersion('r');
$count = $factory->createCountDown('r');
check_same([true, true], [$version->advance(1), $count->open(['a', 'b'], 'p')], 'at the first master');
$trio->awaitReplicas($trio->servers[0]);
$trio->failOver();
check_same([false, true, '2'], [$version->advance(1), $version->advance(2), $version->get()], 'the version is there at the second');
check_same([1, 'p'], [$count->arrive('a')->left, $count->arrive('b')->payload], 'and the count-down');
unset($trio);

/* In a cluster each is on its server; of the clusters before 7.0 there is none here. */
$server = new RedisServer();
if (!$server->isBefore('7.0')) {
    $cluster = new RedisClusterServers();
    $factory = new SyncFactory(new RedisStore($cluster->dsn()));
}
for ($at = 0; isset($cluster) && $at < 20; $at++) {
    check_same([true, false], [$factory->createVersion("r$at")->advance(1), $factory->createVersion("r$at")->advance(1)], "version $at");
    check_same([true, false], [$factory->createThrottle("r$at", 1, 60.0)->acquire(), $factory->createThrottle("r$at", 1, 60.0)->acquire()], "throttle $at");
    $count = $factory->createCountDown("r$at");
    $count->open(['a'], 'p');
    check_same('p', $count->arrive('a')->payload, "count-down $at");
}
unset($cluster);

/* An answer that is lost is asked for again, and nothing happens twice. */
$proxy = new RedisProxy($server);
$factory = new SyncFactory(new RedisStore($proxy->dsn()));
$version = $factory->createVersion('r');
$throttle = $factory->createThrottle('r', 2, 7200.0, 2);
$count = $factory->createCountDown('r');
$sequence = $factory->createSequence('r', lease: 7200.0);
$debounce = $factory->createDebounce('r', 3600.0);
$sequence->inspect();
$debounce->resume(1);
$version->advance(1);
$throttle->getRetryAfter();
$count->inspect();
foreach ([
    'advance' => [fn () => $version->advance(2), true],
    'acquire' => [fn () => $throttle->acquire(), true],
    'open' => [fn () => $count->open(['a', 'b'], 'p'), true],
    'arrive' => [fn () => $count->arrive('a')->left, 1],
    'arrive at last' => [fn () => $count->arrive('b')->payload, 'p'],
    'revert' => [fn () => $version->revert(2), true],
    'enter' => [fn () => $sequence->enter('a')->isHead, true],
    'enter behind it' => [fn () => [$sequence->enter('b', 'p')->isHead, $sequence->enter('c', 'q')->isHead], [false, false]],
    'resume' => [fn () => $sequence->resume($sequence->enter('a')->ticket)->state, 'go'],
    'next' => [fn () => $sequence->next($sequence->enter('a')->ticket)->payload, 'p'],
    'put back' => [fn () => $sequence->putBack($sequence->enter('b')->ticket), null],
    'abandon' => [fn () => $sequence->abandon(0.0)->payload, 'q'],
    'register' => [fn () => $debounce->register()->delay > 3590, true],
    'sent' => [fn () => $debounce->sent($debounce->register()->token), null],
] as $what => [$call, $expected]) {
    $proxy->set('drop');
    check_same($expected, $call(), $what);
    check_same('pass', $proxy->mode(), "$what: the answer was lost");
}
check_same('1', $version->get(), 'the version before it');
check_same([true, false], [$throttle->acquire(), $throttle->acquire()], 'one of two slots was left');
check_same([0, true], [$sequence->inspect()['waiting'], $sequence->inspect()['parked']], 'the third entry has its turn');

/* A server that does not answer. */
$proxy->set('hang');
$slow = new SyncFactory(new RedisStore($proxy->dsn('?read_timeout=0.2&timeout=0.2')));
check(preg_match('/^Latch\\\\Exception\\\\LockStorageException: Failed to advance the "slow" version: .+\.$/', $said = outcome(
    fn () => $slow->createVersion('slow')->advance(3))) === 1, $said);
$proxy->set('pass');
check_same('1', $version->get(), 'others go on');
echo "done\n";
?>
--EXPECT--
done
