--TEST--
latch.symfony=1, latch.symfony_semaphore=1: every class has Symfony's name, and Latch's as an alias
--INI--
latch.symfony=1
latch.symfony_semaphore=1
--FILE--
<?php
$all = array_filter([...get_declared_interfaces(), ...get_declared_classes()], fn ($name) => stripos($name, 'latch\\') === 0
    || str_starts_with($name, 'Symfony\\') || str_starts_with($name, 'Psr\\'));
sort($all);
$stores = array_column(array_filter(Latch\Store\StoreFactory::describe(), fn (array $store) => $store['native']), 'class');
$found = [];
foreach (array_unique($all) as $name) {
    $class = new ReflectionClass($name);
    if (strcasecmp($name, $class->name) !== 0) {
        continue; // an alias
    }
    $alias = str_replace(['Symfony\Component\Lock\\', 'Symfony\Component\Semaphore\\'], ['Latch\\', 'Latch\Semaphore\\'], $name);
    $same = (class_exists($alias, false) || interface_exists($alias, false)) && (new ReflectionClass($alias))->name === $name;
    if ($same && in_array($name, $stores, true)) {
        $found[] = $name;
        continue;
    }
    echo $class->isInterface() ? 'interface ' : 'class ', $name, $same ? '' : " (BROKEN: no alias $alias)", "\n";
}
foreach ([Latch\Lock::class, Latch\Key::class, Latch\LockFactory::class, Latch\Store\FlockStore::class,
    Latch\PersistingStoreInterface::class, Latch\LockFactory::class, Latch\Semaphore\Semaphore::class, Latch\Semaphore\Key::class,
    Latch\Semaphore\SemaphoreFactory::class, Latch\Semaphore\Store\RedisStore::class] as $name) {
    foreach ((new ReflectionClass($name))->getMethods() as $method) {
        if (str_contains((string) $method, 'Latch\\')) {
            echo "BROKEN: $method\n";
        }
    }
}
echo implode("\n", array_diff($stores, $found)), count($found) >= 10 ? '' : 'BROKEN: too few stores';
echo (new ReflectionMethod('Latch\Lock', '__construct'))->getParameters()[0], "\n";
echo (new ReflectionMethod('Latch\LockFactory', 'createLock'))->getReturnType(), "\n";
echo (new ReflectionMethod('Latch\Semaphore\Semaphore', '__construct'))->getParameters()[1], "\n";
echo (new ReflectionProperty('Latch\Semaphore\Key', 'lease'))->getType(), "\n";
--EXPECT--
interface Psr\Log\LoggerAwareInterface
class Symfony\Component\Lock\Arrival
interface Symfony\Component\Lock\BlockingSharedLockStoreInterface
interface Symfony\Component\Lock\BlockingStoreInterface
class Symfony\Component\Lock\CountDown
class Symfony\Component\Lock\Debounce
class Symfony\Component\Lock\Entry
interface Symfony\Component\Lock\Exception\ExceptionInterface
class Symfony\Component\Lock\Exception\InvalidArgumentException
class Symfony\Component\Lock\Exception\InvalidTtlException
class Symfony\Component\Lock\Exception\LockAcquiringException
class Symfony\Component\Lock\Exception\LockConflictedException
class Symfony\Component\Lock\Exception\LockExpiredException
class Symfony\Component\Lock\Exception\LockReleasingException
class Symfony\Component\Lock\Exception\LockStorageException
class Symfony\Component\Lock\Exception\UnserializableKeyException
class Symfony\Component\Lock\Key
class Symfony\Component\Lock\Lease
class Symfony\Component\Lock\Lock
class Symfony\Component\Lock\LockFactory
interface Symfony\Component\Lock\LockInterface
class Symfony\Component\Lock\MultiLock
class Symfony\Component\Lock\NoLock
class Symfony\Component\Lock\Occurrence
interface Symfony\Component\Lock\PersistingStoreInterface
class Symfony\Component\Lock\Place
class Symfony\Component\Lock\Sequence
interface Symfony\Component\Lock\SharedLockInterface
interface Symfony\Component\Lock\SharedLockStoreInterface
class Symfony\Component\Lock\Store\StoreFactory
class Symfony\Component\Lock\Strategy\ConsensusStrategy
interface Symfony\Component\Lock\Strategy\StrategyInterface
class Symfony\Component\Lock\Strategy\UnanimousStrategy
class Symfony\Component\Lock\SyncFactory
class Symfony\Component\Lock\Throttle
class Symfony\Component\Lock\Turn
class Symfony\Component\Lock\Version
interface Symfony\Component\Semaphore\Exception\ExceptionInterface
class Symfony\Component\Semaphore\Exception\InvalidArgumentException
class Symfony\Component\Semaphore\Exception\RuntimeException
class Symfony\Component\Semaphore\Exception\SemaphoreAcquiringException
class Symfony\Component\Semaphore\Exception\SemaphoreExpiredException
class Symfony\Component\Semaphore\Exception\SemaphoreReleasingException
class Symfony\Component\Semaphore\Exception\SemaphoreStorageException
class Symfony\Component\Semaphore\Exception\UnserializableKeyException
class Symfony\Component\Semaphore\Key
interface Symfony\Component\Semaphore\PersistingStoreInterface
class Symfony\Component\Semaphore\Semaphore
class Symfony\Component\Semaphore\SemaphoreFactory
interface Symfony\Component\Semaphore\SemaphoreInterface
class Symfony\Component\Semaphore\Store\InMemoryStore
class Symfony\Component\Semaphore\Store\LockStore
class Symfony\Component\Semaphore\Store\RedisStore
class Symfony\Component\Semaphore\Store\SemaphoreStore
class Symfony\Component\Semaphore\Store\StoreFactory
Parameter #0 [ <required> Symfony\Component\Lock\Key $key ]
Symfony\Component\Lock\SharedLockInterface
Parameter #1 [ <required> Symfony\Component\Semaphore\PersistingStoreInterface $store ]
?Symfony\Component\Lock\Lease
