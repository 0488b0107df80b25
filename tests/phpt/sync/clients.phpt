--TEST--
Versions, throttles, count-downs, sequences and debounces by a \Redis object, with any prefix, serialiser and compression
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\Store\RedisStore;
use Latch\SyncFactory;
use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach ([
    'plain' => [],
    'prefix' => ['OPT_PREFIX' => 'app:'],
    'literal replies' => ['OPT_REPLY_LITERAL' => true, 'OPT_NULL_MULTIBULK_AS_NULL' => true],
    'serialiser' => ['OPT_SERIALIZER' => Redis::SERIALIZER_PHP],
    'igbinary' => ['OPT_SERIALIZER' => Redis::SERIALIZER_IGBINARY, 'OPT_PREFIX' => 'i:'],
] as $case => $options) {
    $factory = new SyncFactory(new RedisStore(phpredis($server, $options)));
    $direct = new SyncFactory(new RedisStore($server->dsn('?prefix=' . ($options['OPT_PREFIX'] ?? '') . "&persistent_id=$case")));
    $version = $factory->createVersion('r');
    check_same([null, true, false], [$version->get(), $version->advance('9007199254740993'), $version->advance(1)], "$case: version");
    check_same('9007199254740993', $direct->createVersion('r')->get(), "$case: the same as by a DSN");
    $throttle = $factory->createThrottle('r', 1, 3600.0);
    check_same([true, false, false], [$throttle->acquire(), $throttle->acquire(), $direct->createThrottle('r', 1, 3600.0)->acquire()], "$case: throttle");
    check($throttle->getRetryAfter() > 3500, "$case: the next slot");
    $count = $factory->createCountDown('r');
    $payload = random_bytes(1024 * 1024);
    check_same(true, $count->open(['a', 'b'], $payload), "$case: opened");
    check_same(1, $direct->createCountDown('r')->arrive('b', true)->left, "$case: one arrives by a DSN");
    $arrival = $count->arrive('a');
    check($arrival->payload === $payload && $arrival->failed === ['b'], "$case: the other is given the payload");
    $count->done();
    check_same(true, $direct->createCountDown('r')->await(0), "$case: done");
    $sequence = $factory->createSequence('r');
    [$first, $second] = [$sequence->enter('a'), $direct->createSequence('r')->enter('b', $payload)];
    check_same(['go', 'held'], [$sequence->resume($first->ticket)->state, $direct->createSequence('r')->resume($first->ticket)->state], "$case: sequence");
    check_same([$second->ticket, $payload], [($entry = $sequence->next($first->ticket))->ticket, $entry->payload], "$case: handed on");
    $debounce = $factory->createDebounce('r', 3600.0);
    $debounce->sent(($old = $debounce->register())->token);
    check_same(['held', 'done'], [$direct->createDebounce('r', 3600.0)->resume($direct->createDebounce('r', 3600.0)->register()->token)->state,
        $debounce->resume($old->token)->state], "$case: debounce");
    $server->command('FLUSHALL');
}
$redis = phpredis($server);
$factory = new SyncFactory(new RedisStore($redis));
$redis->multi();
check(str_contains($said = outcome(fn () => $factory->createVersion('r')->advance(1)), 'the client is in a transaction or a pipeline'), $said);
$redis->discard();
check_same(true, $factory->createVersion('r')->advance(1), 'afterwards it goes on');
echo "done\n";
?>
--EXPECT--
done
