--TEST--
LockFactory::createMultiLock() takes names and modes in any order, and refuses all else with a reason
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Lock, LockFactory, LockInterface, MultiLock, SharedLockInterface};
use Latch\Store\InMemoryStore;

$store = new RecordingStore(temporary_directory());
$factory = new LockFactory($store);

/* Names, in any order, and modes. */
$multi = $factory->createMultiLock(['b', 'a', 'B', "a\0", '10', '9']);
check($multi instanceof MultiLock && $multi instanceof SharedLockInterface && $multi instanceof LockInterface, 'its class');
check(!$multi instanceof Lock && (new ReflectionClass($multi))->isFinal(), 'no Lock');
check($multi->acquire(), 'acquired');
check_same(
    ['save 10', 'save 9', 'save B', 'save a', "save a\0", 'save b'],
    array_values(array_filter($store->calls(), fn (string $call) => str_starts_with($call, 'save'))),
    'in the order of bytes'
);
check(abs($multi->getRemainingLifetime() - 300) < 20, 'five minutes by default');
unset($multi);
check_same(false, $store->is_locked('a'), 'released at the end of the object');

$modes = fn (iterable $resources) => multi_lock($store, $resources)->__debugInfo()['resources'];
check_same(['a' => 'write', 'b' => 'read'], $modes(['b' => 'read', 'a']), 'a name beside a mode');
check_same([7 => 'read', 'x' => 'write'], $modes([7 => 'read', 'x' => 'write']), 'names that PHP makes numbers of');
check_same([0 => 'write', 'read' => 'write'], $modes(['read' => 'write', '0']), 'a resource that is called like a mode');
check_same(['a' => 'write', 'b' => 'write'], $modes([3 => 'b', 1 => 'a']), 'a list with gaps');
$name = 'a';
$mode = 'read';
check_same(['a' => 'read'], $modes([$name => &$mode]), 'a reference');
check_same(['a' => 'write', 'b' => 'read'], $modes((function () {
    yield 'a';
    yield 'b' => 'read';
})()), 'a generator');
check_same(['a' => 'write', 'b' => 'write'], $modes(new ArrayIterator(['b', 'a'])), 'an iterator');
check_same(['a' => 'read'], $modes(new class implements IteratorAggregate {
    public function getIterator(): Iterator
    {
        return new ArrayIterator(['a' => 'read']);
    }
}), 'an aggregate');

/* TTL, automatic release, logger. */
$multi = $factory->createMultiLock(['a', 'b'], ttl: null, autoRelease: false);
check($multi->acquire() && $multi->getRemainingLifetime() === null, 'without TTL');
check_same(
    ['resources' => ['a' => 'write', 'b' => 'write'], 'store' => RecordingStore::class, 'ttl' => null, 'autoRelease' => false, 'held' => true],
    $multi->__debugInfo(),
    'what a dump shows'
);
unset($multi);
check($store->is_locked('a') && $store->is_locked('b'), 'without automatic release');
$factory->setLogger($logger = new Logger());
$factory->createMultiLock(['c', 'd'], 10)->acquire();
check(count(preg_grep('/Successfully acquired/', $logger->take())) === 2, "with the factory's logger");

/* What is refused. */
$memory = new LockFactory(new InMemoryStore());
$refusals = [
    [],
    new EmptyIterator(),
    ['a', 'b', 'a'],
    ['a', 'a' => 'read'],
    [''],
    ['' => 'read'],
    ['a' => 'wrtie'],
    ['a' => null],
    ['a' => 1],
    [1],
    [null],
    [['a']],
    ['read', 'a'],
    (fn () => yield 'write')(),
    array_map(fn (int $number) => "r$number", range(0, 10000)),
    (function () {
        for ($number = 0; ; $number++) {
            yield "r$number";
        }
    })(),
];
foreach ($refusals as $refused) {
    echo outcome(fn () => $memory->createMultiLock($refused)), "\n";
}
foreach ([-1.0, NAN, INF] as $ttl) {
    echo outcome(fn () => $memory->createMultiLock(['a'], $ttl)), "\n";
}
echo outcome(fn () => $memory->createMultiLock((function () {
    yield 'a';
    throw new DomainException('from the generator');
})())), "\n";
echo outcome(fn () => $memory->createMultiLock('a')), "\n";

$multi = $memory->createMultiLock(['a', 'b', 'c'], 10);
foreach ([[false, 1.0], [true, -1.0], [true, NAN]] as $arguments) {
    echo outcome(fn () => $multi->acquire(...$arguments)), "\n";
}
echo outcome(fn () => $multi->refresh(-1)), "\n";
echo outcome(fn () => $memory->createMultiLock(['a'], null)->refresh()), "\n";
echo outcome(fn () => $multi->keepAlive(0)), "\n";
echo outcome(fn () => $multi->onLost('no function')), "\n";

/* As an object. */
echo outcome(fn () => serialize($multi)), "\n";
echo outcome(fn () => unserialize('O:15:"Latch\MultiLock":0:{}')), "\n";
echo outcome(fn () => clone $multi), "\n";
echo outcome(fn () => new MultiLock()), "\n";
echo outcome(fn () => (new ReflectionClass(MultiLock::class))->newInstanceWithoutConstructor()), "\n";
echo outcome(fn () => $multi->property = 1), "\n";
check($multi->acquire() && $multi->isHeld(), 'it is what it was');
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must not be empty: name at least one resource
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must not be empty: name at least one resource
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must name each resource once, and has "a" twice
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must name each resource once, and has "a" twice
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must not have an empty name: give each resource a name
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must not have an empty name: give each resource a name
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have "read" or "write" as the mode of "a", "wrtie" given
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have "read" or "write" as the mode of "a", null given
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have "read" or "write" as the mode of "a", int given
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have names of resources, strings; int given at 0
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have names of resources, strings; null given at 0
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have names of resources, strings; array given at 0
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) has "read" at 0, which may be a name or a mode: write ["read" => "write"] for a resource of that name
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) has "write" at 0, which may be a name or a mode: write ["write" => "write"] for a resource of that name
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have 10000 resources at most: lock something that stands for all of them
Latch\Exception\InvalidArgumentException: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must have 10000 resources at most: lock something that stands for all of them
Latch\Exception\InvalidTtlException: Latch\LockFactory::createMultiLock(): Argument #2 ($ttl) must be a finite number of seconds, 0 or more
Latch\Exception\InvalidTtlException: Latch\LockFactory::createMultiLock(): Argument #2 ($ttl) must be a finite number of seconds, 0 or more
Latch\Exception\InvalidTtlException: Latch\LockFactory::createMultiLock(): Argument #2 ($ttl) must be a finite number of seconds, 0 or more
DomainException: from the generator
TypeError: Latch\LockFactory::createMultiLock(): Argument #1 ($resources) must be of type Traversable|array, string given
Latch\Exception\InvalidArgumentException: Latch\MultiLock::acquire(): Argument #2 ($timeout) must be null unless $blocking is true
Latch\Exception\InvalidArgumentException: Latch\MultiLock::acquire(): Argument #2 ($timeout) must be a number of seconds, 0 or more
Latch\Exception\InvalidArgumentException: Latch\MultiLock::acquire(): Argument #2 ($timeout) must be a number of seconds, 0 or more
Latch\Exception\InvalidTtlException: Latch\MultiLock::refresh(): Argument #1 ($ttl) must be a finite number of seconds, 0 or more
Latch\Exception\InvalidArgumentException: You have to define an expiration duration.
Latch\Exception\InvalidArgumentException: Latch\MultiLock::keepAlive(): Argument #1 ($maxHold) must be null or a finite number of seconds, more than 0
TypeError: Latch\MultiLock::onLost(): Argument #1 ($callback) must be a valid callback, function "no function" not found or invalid function name
BadMethodCallException: Cannot serialize Latch\MultiLock
BadMethodCallException: Cannot unserialize Latch\MultiLock
Error: Trying to clone an uncloneable object of class Latch\MultiLock
Error: Call to private Latch\MultiLock::__construct() from global scope
ReflectionException: Class Latch\MultiLock is an internal class marked as final that cannot be instantiated without invoking its constructor
Error: Cannot create dynamic property Latch\MultiLock::$property
done
