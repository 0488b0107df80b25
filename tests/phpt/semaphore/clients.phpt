--TEST--
Semaphores by client objects: \Redis with its options, and a client in PHP, share permits with DSNs
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/php_client.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\{RedisStore, StoreFactory};
use Latch\Tests\{PhpClient, RedisServer};

$server = new RedisServer();
$cases = [
    'plain' => [phpredis($server), ''],
    'prefix' => [phpredis($server, ['OPT_PREFIX' => 'app:']), 'app:'],
    'serialiser' => [phpredis($server, ['OPT_SERIALIZER' => Redis::SERIALIZER_PHP, 'OPT_PREFIX' => 's:']), 's:'],
    'client in PHP' => [new PhpClient($server), ''],
];
foreach ($cases as $case => [$client, $prefix]) {
    $store = StoreFactory::createStore($client);
    check_same(RedisStore::class, get_class($store), "$case: the store");
    $direct = new RedisStore($server->dsn("?prefix=$prefix&persistent_id=$case"));
    $make = fn (object $store, int $weight) => new Semaphore(new Key('s', 3, $weight), $store);
    [$heavy, $light, $other] = [$make($store, 2), $make($store, 1), $make($direct, 2)];
    check($heavy->acquire() && $light->acquire() && !$other->acquire(), "$case: all are out");
    check_same(0, $other->available(), "$case: none is free");
    check_same([0, 0, 4], [$heavy->available(), $make($direct, 1)->available(), (new Semaphore(new Key('s', 7), $store))->available()],
        "$case: counted by the object, too");
    check_same(7, (new Semaphore(new Key('free', 7), $store))->available(), "$case: nothing is held");
    [$told, $by_dsn] = array_map(fn (RedisStore $by) => $by->inspect(new Key('s', 3)), [$store, $direct]);
    check_same([3, 2, 0, 's'], [$told['used'], $told['holderCount'], $told['waiters'], $told['name']], "$case: the report");
    $lasting = function (array $holder) {
        unset($holder['remaining']);
        return $holder;
    };
    check_same(array_map($lasting, $by_dsn['holders']), array_map($lasting, $told['holders']), "$case: the holders, as by the DSN");
    check_same([getmypid(), getmypid()], array_column($told['holders'], 'pid'), "$case: their processes");
    check_same('Latch\Semaphore\Exception\SemaphoreStorageException: Failed to list the semaphores: the redis store cannot list its semaphores.',
        outcome(fn () => $store->listHeld()), "$case: only a DSN lists");
    check($heavy->isHeld() && $heavy->isAcquired() && $server->command('ZCARD', "{$prefix}{s}:weight") === 2, "$case: held");
    $heavy->refresh(100);
    check(abs($heavy->getRemainingLifetime() - 100) < 5, "$case: renewed");
    check(!$make($store, 1)->acquire(true, 0.3), "$case: a wait in vain");
    check_same('Latch\Semaphore\Exception\InvalidArgumentException', get_class((function () use ($heavy) {
        try {
            $heavy->keepAlive();
        } catch (Exception $e) {
            return $e;
        }
    })()), "$case: no thread can use it");
    $heavy->release();
    check($other->acquire() && !$heavy->acquire() && !$heavy->isHeld(), "$case: by the DSN");
    check_same('Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "s" has expired: the script returns a positive number.',
        outcome(fn () => $heavy->refresh()), "$case: not held");
    $other->release();
    check($heavy->acquire(true, PATIENCE), "$case: by the object");
    unset($heavy, $light);
    check($make($direct, 3)->acquire(), "$case: the end of the objects gives back");
    check_same([], $server->command('KEYS', '*'), "$case: nothing is left");
}

/* A waiter of the one kind is served by the release of the other. */
$redis = phpredis($server);
$held = new Semaphore(new Key('s', 1), new RedisStore($redis));
check($held->acquire(), 'held');
$child = fork(function (ParentLine $parent) use ($server) {
    $semaphore = redis_semaphore($server, 1);
    $parent->say('waits');
    $parent->say($semaphore->acquire(true, PATIENCE) ? 'held' : 'refused');
    return 0;
});
$child->hear_exactly('waits');
wait_until(fn () => permit_queue($server) === 1, 'it is in the queue');
$held->release();
$child->hear_exactly('held');
check_same('exit 0', $child->ending(), 'the waiter');
check(preg_match('/^Latch.Semaphore.Exception.RuntimeException: Failed to acquire the "s" semaphore: /', $outcome = outcome(function () use ($server) {
    $redis = phpredis($server);
    $store = new RedisStore($redis);
    $redis->multi();
    return (new Semaphore(new Key('s', 1), $store))->acquire();
})) === 1, $outcome);
echo "done\n";
--EXPECT--
done
