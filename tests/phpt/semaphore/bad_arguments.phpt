--TEST--
Bad arguments of semaphores are clear exceptions of their own, and leave no permit taken
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore, SemaphoreFactory};
use Latch\Semaphore\Store\{InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

$server = new RedisServer();
const INVALID = 'Latch\Semaphore\Exception\InvalidArgumentException: ';

foreach ([
    [0, 1, 'The limit (0) should be greater than 0.'],
    [-5, 1, 'The limit (-5) should be greater than 0.'],
    [PHP_INT_MIN, 1, 'The limit (' . PHP_INT_MIN . ') should be greater than 0.'],
    [1, 0, 'The weight (0) should be greater than 0.'],
    [1, -1, 'The weight (-1) should be greater than 0.'],
    [2, 3, 'The weight (3) should be lower or equals to the limit (2).'],
    [1, PHP_INT_MAX, 'The weight (' . PHP_INT_MAX . ') should be lower or equals to the limit (1).'],
    [2 ** 53 + 1, 1, 'The limit (9007199254740993) should be lower or equals to 9007199254740992.'],
    [PHP_INT_MAX, PHP_INT_MAX, 'The limit (' . PHP_INT_MAX . ') should be lower or equals to 9007199254740992.'],
] as [$limit, $weight, $message]) {
    check_same(INVALID . $message, outcome(fn () => new Key('s', $limit, $weight)), "Key($limit, $weight)");
    check_same(INVALID . $message, outcome(fn () => (new SemaphoreFactory(new InMemoryStore()))->createSemaphore('s', $limit, $weight)),
        "createSemaphore($limit, $weight)");
    foreach (['plain' => '', 'Symfony' => "\0Latch\Semaphore\Key\0"] as $form => $prefix) {
        check_same(INVALID . $message, outcome(fn () => (new ReflectionClass(Key::class))->newInstanceWithoutConstructor()->__unserialize(
            ["{$prefix}resource" => 's', "{$prefix}limit" => $limit, "{$prefix}weight" => $weight])), "$form form of ($limit, $weight)");
    }
}
check_same(INVALID . 'Latch\Semaphore\Key::__construct(): Argument #1 ($resource) must not be empty: give the semaphore a name',
    outcome(fn () => new Key('', 1)), 'an empty resource');
check_same(INVALID . 'Latch\Semaphore\SemaphoreFactory::createSemaphore(): Argument #1 ($resource) must not be empty: give the semaphore a name',
    outcome(fn () => (new SemaphoreFactory(new InMemoryStore()))->createSemaphore('', 1)), 'an empty resource of the factory');

$stores = ['memory' => new InMemoryStore(), 'Redis' => new RedisStore($server->dsn()),
    'PHP' => new RecordingPermitStore(temporary_directory())];
foreach ($stores as $name => $store) {
    $factory = new SemaphoreFactory($store);
    $expect = function (string $outcome, string $case, callable $call) use ($name, $factory) {
        check_same($outcome, outcome($call), "$name: $case");
        $all = $factory->createSemaphore('s', 3, 3);
        check($name === 'PHP' || $all->acquire(), "$name, $case: nothing is taken");
    };
    $ttls = [
        '-1' => -1.0, '-1.0E-9' => -1e-9, '0' => 0.0, 'NAN' => NAN, '-INF' => -INF,
    ];
    foreach ($ttls as $text => $ttl) {
        $text = (string) $text;
        $message = INVALID . "The TTL should be greater than 0, '$text' given.";
        $expect($message, "Semaphore, TTL $text", fn () => new Semaphore(new Key('s', 3), $store, $ttl));
        $expect($message, "createSemaphore, TTL $text", fn () => $factory->createSemaphore('s', 3, 1, $ttl));
        $expect($message, "createSemaphoreFromKey, TTL $text", fn () => $factory->createSemaphoreFromKey(new Key('s', 3), $ttl));
        $expect($text === '0' ? INVALID . 'You have to define an expiration duration.' : $message, "refresh, TTL $text", function () use ($factory, $ttl) {
            $semaphore = $factory->createSemaphore('s', 3);
            $semaphore->acquire();
            $semaphore->refresh($ttl);
        });
        if ($name !== 'PHP') {
            $expect($message, "save, TTL $text", fn () => $store->save(new Key('s', 3), $ttl));
            $expect($message, "putOffExpiration, TTL $text", fn () => $store->putOffExpiration(new Key('s', 3), $ttl));
        }
    }
    $expect(INVALID . "The TTL should be a finite number of seconds, 'INF' given.", 'TTL INF', fn () => $factory->createSemaphore('s', 3, 1, INF));
    foreach (['negative' => -1.0, 'tiny negative' => -1e-9, 'NAN' => NAN, '-INF' => -INF] as $case => $timeout) {
        $message = 'must be a number of seconds, 0 or more';
        $expect(INVALID . "Latch\Semaphore\Semaphore::acquire(): Argument #2 (\$timeout) $message", "acquire, timeout $case",
            fn () => $factory->createSemaphore('s', 3)->acquire(true, $timeout));
        $expect(INVALID . "Latch\Semaphore\Semaphore::synchronized(): Argument #2 (\$timeout) $message", "synchronized, timeout $case",
            fn () => $factory->createSemaphore('s', 3)->synchronized(fn () => check(false, 'called'), $timeout));
    }
    $expect(INVALID . 'Latch\Semaphore\Semaphore::acquire(): Argument #2 ($timeout) must be null unless $blocking is true', 'timeout alone',
        fn () => $factory->createSemaphore('s', 3)->acquire(false, 1));
    foreach (['-1' => -1.0, '0' => 0.0, 'NAN' => NAN, 'INF' => INF] as $case => $hold) {
        $expect(INVALID . 'Latch\Semaphore\Semaphore::keepAlive(): Argument #1 ($maxHold) must be null or a finite number of seconds, more than 0',
            "maxHold $case", fn () => $factory->createSemaphore('s', 3)->keepAlive($hold));
    }
    /* What is unusual, but right. */
    foreach ([null, 1e-9, 1e9, 1e300, PHP_INT_MAX] as $ttl) {
        $semaphore = $factory->createSemaphore('s', 3, 1, $ttl);
        check(in_array(outcome(fn () => $semaphore->acquire()), $ttl === 1e-9 ? ['true', 'Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore: its time was over before it was taken.',
            'Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore.'] : ['true'], true), "$name: TTL " . var_export($ttl, true));
        $semaphore->release();
    }
    foreach ([0, 1e-9, 1e9, INF, PHP_INT_MAX] as $timeout) {
        check($factory->createSemaphore('s', 3)->acquire(true, $timeout), "$name: timeout " . var_export($timeout, true));
    }
    foreach ([
        fn () => new Semaphore('s', $store),
        fn () => new Semaphore(new Latch\Key('s'), $store),
        fn () => new Semaphore(new Key('s', 3), new Latch\Store\InMemoryStore()),
        fn () => new Semaphore(new Key('s', 3), $store, []),
        fn () => new Semaphore(new Key('s', 3)),
        fn () => $factory->createSemaphore('s'),
        fn () => $factory->createSemaphore('s', 'many'),
        fn () => $factory->createSemaphoreFromKey('s'),
        fn () => $factory->createSemaphore('s', 3)->acquire([]),
        fn () => $factory->createSemaphore('s', 3)->synchronized('no such function'),
        fn () => $factory->createSemaphore('s', 3)->onLost('no such function'),
        fn () => $store->save(new Key('s', 3)),
        fn () => $store->save(new Latch\Key('s'), 1.0),
        fn () => $store->exists('s'),
    ] as $at => $call) {
        $outcome = outcome($call);
        check(preg_match('/^(TypeError|ArgumentCountError): (Latch\\\\|RecordingPermitStore|Too few arguments)/', $outcome) === 1, "$name: call $at: $outcome");
    }
}
check_same(
    'TypeError: Latch\Semaphore\SemaphoreFactory::__construct(): Argument #1 ($store) must be of type Latch\Semaphore\PersistingStoreInterface, Latch\Store\CombinedStore given: '
        . 'that store has locks and no semaphores; RedisStore and InMemoryStore of the namespace Latch\Semaphore\Store have them, and LockStore there makes them of locks',
    outcome(fn () => new SemaphoreFactory(new Latch\Store\CombinedStore([new Latch\Store\NullStore()], new Latch\Strategy\UnanimousStrategy()))),
    'a combined store'
);
check_same('BadMethodCallException: Cannot serialize Latch\Semaphore\Semaphore', outcome(fn () => serialize((new SemaphoreFactory(new InMemoryStore()))->createSemaphore('s', 1))), 'serialize()');
check_same('BadMethodCallException: Cannot unserialize Latch\Semaphore\Semaphore', outcome(fn () => unserialize('O:25:"Latch\Semaphore\Semaphore":0:{}')), 'unserialize()');
check_same(0, permits_held($server), 'permits in Redis');

/* Keys that hold another type: the message names the semaphore, and neither of the keys is changed. */
foreach (['{t}:weight', '{t}:time'] as $taken) {
    $server->command('SET', $taken, 'text');
    $semaphore = new Semaphore(new Key('t', 3), new RedisStore($server->dsn()));
    foreach ([[], [true, 1]] as $arguments) {
        $outcome = outcome(fn () => $semaphore->acquire(...$arguments));
        check(preg_match('/^Latch.Semaphore.Exception.RuntimeException: Failed to acquire the "t" semaphore: .*WRONGTYPE/', $outcome) === 1, "$taken: $outcome");
    }
    check(str_starts_with($outcome = outcome(fn () => $semaphore->refresh()), 'Latch\Semaphore\Exception\\'), "$taken, refresh(): $outcome");
    check(!$semaphore->isHeld(), "$taken: nothing is held");
    check_same(['text', [$taken]], [$server->command('GET', $taken), $server->command('KEYS', '*{t}*')], "$taken: nothing is left");
    unset($semaphore);
    $server->command('DEL', $taken);
}
echo "done\n";
--EXPECT--
done
