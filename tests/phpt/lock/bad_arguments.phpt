--TEST--
Bad arguments are clear exceptions that name the argument, and leave nothing locked
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock, LockFactory, NoLock};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

$directory = temporary_directory();
$stores = ['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'PHP' => new RecordingStore($directory)];
$bad_ttls = ['negative' => -1.0, 'tiny negative' => -1e-9, 'NAN' => NAN, 'INF' => INF, '-INF' => -INF];
$bad_timeouts = ['negative' => -1.0, 'tiny negative' => -1e-9, 'NAN' => NAN, '-INF' => -INF];

foreach ($stores as $name => $store) {
    $expect = function (string $class, string $argument, string $case, callable $call) use ($name, $store) {
        try {
            $call();
            echo "BROKEN: $name, $case: no exception\n";
        } catch (Throwable $e) {
            check(get_class($e) === $class && str_contains($e->getMessage(), $argument),
                "$name, $case: " . get_class($e) . ': ' . $e->getMessage());
        }
        check((new Lock(new Key('r'), $store))->acquire(), "$name, $case: nothing is locked");
    };
    $ttl = Latch\Exception\InvalidTtlException::class;
    $invalid = Latch\Exception\InvalidArgumentException::class;
    $factory = new LockFactory($store);
    foreach ($bad_ttls as $case => $value) {
        $expect($ttl, '$ttl', "Lock, ttl $case", fn () => new Lock(new Key('r'), $store, $value));
        $expect($ttl, '$ttl', "createLock, ttl $case", fn () => $factory->createLock('r', $value));
        $expect($ttl, '$ttl', "createLockFromKey, ttl $case", fn () => $factory->createLockFromKey(new Key('r'), $value));
        $expect($ttl, '$ttl', "refresh, ttl $case", function () use ($store, $value) {
            $lock = new Lock(new Key('r'), $store, 10);
            $lock->acquire();
            $lock->refresh($value);
        });
        if ($name !== 'PHP') {
            $expect($ttl, '$ttl', "putOffExpiration, ttl $case", fn () => $store->putOffExpiration(new Key('r'), $value));
        }
    }
    foreach ($bad_timeouts as $case => $value) {
        foreach (['acquire', 'acquireRead'] as $method) {
            $expect($invalid, '$timeout', "$method, timeout $case", fn () => (new Lock(new Key('r'), $store))->$method(true, $value));
            $expect($invalid, '$timeout', "$method, timeout $case, not blocking", fn () => (new Lock(new Key('r'), $store))->$method(false, $value));
        }
        $expect($invalid, '$timeout', "synchronized, timeout $case", fn () => (new Lock(new Key('r'), $store))->synchronized(
            fn () => check(false, 'called'), $value));
    }
    foreach (['acquire', 'acquireRead'] as $method) {
        foreach ([0.0, 1.0, INF] as $value) {
            $expect($invalid, '$timeout', "$method, timeout without blocking", fn () => (new Lock(new Key('r'), $store))->$method(false, $value));
        }
        $expect($invalid, '$timeout', "$method, named timeout alone", fn () => (new Lock(new Key('r'), $store))->$method(timeout: 1.0));
    }
    foreach ([
        'refresh without TTL' => fn () => (new Lock(new Key('r'), $store))->refresh(),
        'refresh, TTL 0' => fn () => (new Lock(new Key('r'), $store, 10))->refresh(0),
        'refresh, Lock with TTL 0' => fn () => (new Lock(new Key('r'), $store, 0))->refresh(),
    ] as $case => $call) {
        $expect($invalid, 'You have to define an expiration duration.', $case, $call);
    }
    /* What is unusual, but right. */
    foreach ([0, 0.0, 1e300, PHP_INT_MAX, null] as $value) {
        $lock = new Lock(new Key('r'), $store, $value);
        check($lock->acquire(), "$name: ttl " . var_export($value, true));
        $lock->release();
    }
    foreach ([0, 1e-9, 1e9, 1e300, INF, PHP_INT_MAX] as $value) {
        $lock = new Lock(new Key('r'), $store);
        check($lock->acquire(true, $value), "$name: timeout " . var_export($value, true));
        $lock->release();
        check($lock->acquireRead(true, $value), "$name: timeout " . var_export($value, true));
        $lock->release();
    }
    $expect('TypeError', '$key', 'key: string', fn () => new Lock('r', $store));
    $expect('TypeError', '$store', 'store: wrong class', fn () => new Lock(new Key('r'), new stdClass()));
    $expect('TypeError', '$store', 'store: a lock', fn () => new Lock(new Key('r'), new NoLock()));
    $expect('TypeError', '$store', 'store: null', fn () => new Lock(new Key('r'), null));
    $expect('TypeError', '$ttl', 'ttl: string', fn () => new Lock(new Key('r'), $store, 'x'));
    $expect('TypeError', '$ttl', 'ttl: array', fn () => new Lock(new Key('r'), $store, []));
    $expect('TypeError', '$autoRelease', 'autoRelease: array', fn () => new Lock(new Key('r'), $store, 1, []));
    $expect('ArgumentCountError', 'at most 4', 'too many', fn () => new Lock(new Key('r'), $store, 1, true, 5)) ;
    $expect('ArgumentCountError', '0 given', 'too few', fn () => new Lock());
    $expect('TypeError', '$blocking', 'blocking: array', fn () => (new Lock(new Key('r'), $store))->acquire([]));
    $expect('TypeError', '$timeout', 'timeout: array', fn () => (new Lock(new Key('r'), $store))->acquire(true, []));
    $expect('TypeError', '$callback', 'callback: no callable', fn () => (new Lock(new Key('r'), $store))->synchronized('no such function'));
    $expect('TypeError', '$ttl', 'refresh: text', fn () => (new Lock(new Key('r'), $store))->refresh('x'));
    foreach (['save', 'delete', 'exists', 'putOffExpiration'] as $method) {
        $arguments = $method === 'putOffExpiration' ? [new stdClass(), 1.0] : [new stdClass()];
        $expect('TypeError', '$key', "$method: wrong class", fn () => $store->$method(...$arguments));
        $expect('ArgumentCountError', '0 ', "$method: too few", fn () => $store->$method());
    }
}
$expect = null;
foreach ([
    fn () => new Key(),
    fn () => new Key([]),
    fn () => new Key(new stdClass()),
    fn () => (new Key('a'))->setState('a'),
    fn () => (new Key('a'))->setState([], 1),
    fn () => (new Key('a'))->getState([]),
    fn () => (new Key('a'))->hasState(),
    fn () => (new Key('a'))->removeState(new stdClass()),
    fn () => (new Key('a'))->reduceLifetime('x'),
    fn () => new LockFactory(new stdClass()),
    fn () => new LockFactory(),
    fn () => (new LockFactory(new NullStore()))->createLock([]),
    fn () => (new LockFactory(new NullStore()))->createLockFromKey('a'),
    fn () => new FlockStore([]),
    fn () => (new NoLock())->acquire([]),
    fn () => (new NoLock())->refresh('x'),
] as $at => $call) {
    $outcome = outcome($call);
    check(preg_match('/^(TypeError|ArgumentCountError): Latch\\\\/', $outcome) === 1, "call $at: $outcome");
}
echo "done\n";
--EXPECT--
done
