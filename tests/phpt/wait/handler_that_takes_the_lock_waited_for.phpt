--TEST--
A handler that takes the very lock which the interrupted code waits for, and keeps it, makes that wait an exception
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, RedisStore};
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\RedisServer;

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$signaller = signaller(fn () => asks_redis_again($servers[0]));
pcntl_async_signals(true);
$quorum = fn () => new CombinedStore(
    array_map(fn (RedisServer $server) => new RedisStore($server->dsn()), $servers),
    new ConsensusStrategy()
);
$object = fn () => new RedisStore(phpredis($servers[0]));
foreach (['client object' => $object, 'quorum' => $quorum] as $name => $make) {
    $holder = latch_holder(fn () => new Lock(new Key('r'), $make()));
    $taken = new Lock(new Key('r'), $make());
    pcntl_signal(SIGUSR1, function () use ($holder, $taken, $name) {
        $holder->say('release');
        $holder->hear_exactly('released');
        check($taken->acquire(true, PATIENCE), "$name: taken in the handler");
    });
    $signaller->say((string) SIGUSR1);
    $said = outcome(fn () => (new Lock(new Key('r'), $make()))->acquire(true));
    check(str_contains($said, 'this very thread'), "$name: $said");
    check($taken->isAcquired(), "$name: the handler's stays");
    $taken->release();
}
echo "done\n";
--EXPECT--
done
