--TEST--
Latch\Semaphore\Key: Symfony's methods, forms and messages; a key that is handed over has the permits
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\{InMemoryStore, RedisStore};
use Latch\Tests\RedisServer;

const STATE = 'Symfony\Component\Semaphore\Store\RedisStore';
$server = new RedisServer();

$key = new Key("r\0x", 5, 2);
check_same(["r\0x", 5, 2, null, false], [(string) $key, $key->getLimit(), $key->getWeight(), $key->getRemainingLifetime(), $key->isExpired()], 'a new key');
check_same([5, 1], [(new Key('r', 5))->getLimit(), (new Key('r', 5))->getWeight()], 'the weight by default');
$key->setState('a', ['b']);
check($key->hasState('a') && $key->getState('a') === ['b'] && !$key->hasState('b'), 'state');
$key->removeState('a');
check(!$key->hasState('a'), 'no state');
$key->reduceLifetime(10);
$key->reduceLifetime(20);
check($key->getRemainingLifetime() > 9 && $key->getRemainingLifetime() <= 10 && !$key->isExpired(), 'reduced');
$key->reduceLifetime(-1);
check($key->isExpired(), 'expired');
$key->resetLifetime();
check($key->getRemainingLifetime() === null && !$key->isExpired(), 'reset');

/* Forms. */
$key = new Key('r', 5, 2);
$key->setState('a', 'b');
check_same('O:19:"Latch\Semaphore\Key":5:{s:8:"resource";s:1:"r";s:5:"limit";i:5;s:6:"weight";i:2;s:12:"expiringTime";N;s:5:"state";a:1:{s:1:"a";s:1:"b";}}',
    serialize($key), 'the serialised form');
$old = static fn (string $class) => sprintf('O:%d:"%s":5:{', strlen($class), $class) . implode('', array_map(
    static fn (string $name, mixed $value) => serialize("\0$class\0$name") . serialize($value),
    ['resource', 'limit', 'weight', 'expiringTime', 'state'], ['r', 5, 2, 5000000000.5, ['a' => 'b']]
)) . '}';
$read = unserialize($old(Key::class));
check_same(['r', 5, 2, 'b'], [(string) $read, $read->getLimit(), $read->getWeight(), $read->getState('a')], "the form of releases before 8.1");
check($read->getRemainingLifetime() > 1e9, 'its expiry');
$read = (new ReflectionClass(Key::class))->newInstanceWithoutConstructor();
$read->__unserialize(['resource' => 7, 'limit' => '6', 'weight' => '3', 'expiringTime' => null, 'state' => []]); // of XML
check_same(['7', 6, 3], [(string) $read, $read->getLimit(), $read->getWeight()], 'numbers as texts');
foreach ([
    'limit' => ['resource' => 'r', 'weight' => 1],
    'weight' => ['resource' => 'r', 'limit' => 1],
    'resource' => ['limit' => 1, 'weight' => 1],
    'state' => ['resource' => 'r', 'limit' => 1, 'weight' => 1, 'state' => 5],
    'expiringTime' => ['resource' => 'r', 'limit' => 1, 'weight' => 1, 'expiringTime' => 'soon'],
    'limit ' => ['resource' => 'r', 'limit' => 1.5, 'weight' => 1],
    'weight ' => ['resource' => 'r', 'limit' => 1, 'weight' => NAN],
    'limit  ' => ['resource' => 'r', 'limit' => [], 'weight' => 1],
] as $name => $data) {
    $outcome = outcome(fn () => (new ReflectionClass(Key::class))->newInstanceWithoutConstructor()->__unserialize($data));
    check(str_starts_with($outcome, 'Latch\Semaphore\Exception\InvalidArgumentException: Cannot unserialize Latch\Semaphore\Key: "' . trim($name) . '" must be '), "$name: $outcome");
}
/* Properties of the other class of keys are none of this one's. */
foreach (['Latch\Key', 'Symfony\Component\Lock\Key'] as $class) {
    check_same('Latch\Semaphore\Exception\InvalidArgumentException: Cannot unserialize Latch\Semaphore\Key: "resource" must be a string, nothing given.', outcome(
        fn () => (new ReflectionClass(Key::class))->newInstanceWithoutConstructor()->__unserialize(["\0$class\0resource" => 'r', 'limit' => 1, 'weight' => 1])), $class);
}
foreach (['Latch\Semaphore\Key', 'Symfony\Component\Semaphore\Key'] as $class) {
    check_same('Latch\Exception\InvalidArgumentException: Cannot unserialize Latch\Key: "resource" must be a string, nothing given.', outcome(
        fn () => (new ReflectionClass(Latch\Key::class))->newInstanceWithoutConstructor()->__unserialize(["\0$class\0resource" => 'r'])), $class);
}
check_same('BadMethodCallException: Cannot unserialize Latch\Semaphore\Key', outcome(
    fn () => (new ReflectionClass(Key::class))->newInstanceWithoutConstructor()->__unserialize(['resource' => new Key('x', 1), 'limit' => 1, 'weight' => 1])), 'an object');
$key->markUnserializable();
check_same('Latch\Semaphore\Exception\UnserializableKeyException: The key cannot be serialized.', outcome(fn () => serialize($key)), 'not serialisable');
$key->markUnserializable('Store');
check_same('Latch\Semaphore\Exception\UnserializableKeyException: The key cannot be serialized: state owned by "Store" is not portable.',
    outcome(fn () => serialize($key)), 'with its owner');
ob_start();
$key = new Key('r', 5, 2);
$key->setState('a', 'secret');
var_dump($key);
print_r($key);
check(!str_contains($dump = ob_get_clean(), 'secret') && str_contains($dump, '["limit"]=>'), 'a dump has no secrets');
check_same('Error: Latch\Semaphore\Key is constructed already', outcome(fn () => $key->__construct('x', 1)), 'twice');
$empty = (new ReflectionClass(Key::class))->newInstanceWithoutConstructor();
foreach (['getLimit', 'getWeight', '__toString', '__serialize'] as $method) {
    check(str_starts_with(outcome($empty->$method(...)), 'Error: Typed property Latch\Semaphore\Key::$resource'), "$method() of nothing");
}

/* A key that is handed over; its token is under Symfony's name. */
$store = new RedisStore($server->dsn());
$semaphore = new Semaphore($key = new Key('s', 3, 2), $store, 100.0, false);
check($semaphore->acquire(), 'acquired');
check($key->hasState(STATE) && in_array($key->getState(STATE), $server->command('ZRANGE', '{s}:weight', 0, -1), true), 'the token is there');
$copy = unserialize(serialize($key));
check_same([3, 2, $key->getState(STATE)], [$copy->getLimit(), $copy->getWeight(), $copy->getState(STATE)], 'the copy');
check(abs($copy->getRemainingLifetime() - 100) < 5, 'its lifetime');
$heir = new Semaphore($copy, $store, 200.0);
check($heir->isAcquired(), 'it has the permits');
$heir->refresh();
check($heir->isHeld() && $semaphore->isAcquired(), 'renewed');
check(!(new Semaphore(new Key('s', 3, 2), $store))->acquire(), 'there are still two');
unset($heir);
check(!$semaphore->isAcquired() && permits_held($server) === 0, 'given back by the heir');

/* A token of Symfony's. */
$key = new Key('s', 3);
$key->setState(STATE, $token = base64_encode(random_bytes(32)));
$semaphore = new Semaphore($key, $store);
check($semaphore->acquire() && $server->command('ZRANGE', '{s}:time', 0, -1) === [$token], 'the token that it has is used');
$semaphore->release();
$key = new Key('s', 3);
$key->setState(STATE, 5);
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore.', outcome(fn () => (new Semaphore($key, $store))->acquire()), 'no token');

/* In memory: a copy has them as well. */
$store = new InMemoryStore();
$semaphore = new Semaphore($key = new Key('s', 1), $store);
$semaphore->acquire();
check((new Semaphore(unserialize(serialize($key)), $store, 300.0, false))->isAcquired(), 'a copy in memory');
echo "done\n";
--EXPECT--
done
