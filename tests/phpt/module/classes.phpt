--TEST--
All classes, interfaces and exceptions are there, with Symfony's relations
--FILE--
<?php
$all = array_filter([...get_declared_interfaces(), ...get_declared_classes()], fn ($name) => str_starts_with($name, 'Latch\\')
    || str_starts_with($name, 'Symfony\\') || str_starts_with($name, 'Psr\\'));
sort($all);
$stores = array_column(array_filter(Latch\Store\StoreFactory::describe(), fn (array $store) => $store['native']), null, 'class');
foreach ($stores as $name => $store) {
    // Symfony's relations of each are compared in tests/phpunit/Shared/ApiTest.php.
    $class = new ReflectionClass($name);
    if ($class->isFinal() || $class->getParentClass() || !$class->implementsInterface(Latch\PersistingStoreInterface::class)
        || $class->implementsInterface(Latch\SharedLockStoreInterface::class) !== $class->hasMethod('saveRead')
        || ($class->implementsInterface(Latch\BlockingStoreInterface::class) || $class->implementsInterface(Latch\BlockingSharedLockStoreInterface::class))
            !== ($class->hasMethod('waitAndSave') || $class->hasMethod('waitAndSaveRead'))) {
        echo "BROKEN: $name\n";
    }
}
echo count($stores) >= 10 ? '' : "BROKEN: there are no more stores than these: " . implode(' ', array_keys($stores)) . "\n";
foreach (array_diff($all, array_keys($stores)) as $name) {
    $class = new ReflectionClass($name);
    $interfaces = $class->getInterfaceNames();
    sort($interfaces);
    echo $class->isInterface() ? 'interface' : ($class->isFinal() ? 'final class' : 'class'), " $name",
        $class->getParentClass() ? ' extends ' . $class->getParentClass()->name : '',
        $interfaces ? ' : ' . implode(', ', $interfaces) : '', "\n";
}
var_dump(ini_get('latch.symfony'));
var_dump((new ReflectionExtension('latch'))->getFunctions());
--EXPECT--
final class Latch\Arrival
interface Latch\BlockingSharedLockStoreInterface : Latch\PersistingStoreInterface, Latch\SharedLockStoreInterface
interface Latch\BlockingStoreInterface : Latch\PersistingStoreInterface
final class Latch\CountDown
final class Latch\Debounce
final class Latch\Entry
interface Latch\Exception\ExceptionInterface : Stringable, Throwable
class Latch\Exception\InvalidArgumentException extends InvalidArgumentException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\InvalidTtlException extends Latch\Exception\InvalidArgumentException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\LockAcquiringException extends RuntimeException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\LockConflictedException extends RuntimeException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\LockExpiredException extends RuntimeException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\LockReleasingException extends RuntimeException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\LockStorageException extends RuntimeException : Latch\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Exception\UnserializableKeyException extends RuntimeException : Latch\Exception\ExceptionInterface, Stringable, Throwable
final class Latch\Key : Stringable
final class Latch\Lease
final class Latch\Lock : Latch\LockInterface, Latch\SharedLockInterface
class Latch\LockFactory
interface Latch\LockInterface
final class Latch\MultiLock : Latch\LockInterface, Latch\SharedLockInterface
final class Latch\NoLock : Latch\LockInterface, Latch\SharedLockInterface
final class Latch\Occurrence
interface Latch\PersistingStoreInterface
final class Latch\Place
interface Latch\Semaphore\Exception\ExceptionInterface : Stringable, Throwable
class Latch\Semaphore\Exception\InvalidArgumentException extends InvalidArgumentException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Semaphore\Exception\RuntimeException extends RuntimeException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Semaphore\Exception\SemaphoreAcquiringException extends RuntimeException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Semaphore\Exception\SemaphoreExpiredException extends RuntimeException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Semaphore\Exception\SemaphoreReleasingException extends RuntimeException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Semaphore\Exception\SemaphoreStorageException extends RuntimeException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
class Latch\Semaphore\Exception\UnserializableKeyException extends RuntimeException : Latch\Semaphore\Exception\ExceptionInterface, Stringable, Throwable
final class Latch\Semaphore\Key : Stringable
interface Latch\Semaphore\PersistingStoreInterface
final class Latch\Semaphore\Semaphore : Latch\Semaphore\SemaphoreInterface
class Latch\Semaphore\SemaphoreFactory
interface Latch\Semaphore\SemaphoreInterface
class Latch\Semaphore\Store\InMemoryStore : Latch\Semaphore\PersistingStoreInterface
final class Latch\Semaphore\Store\LockStore : Latch\Semaphore\PersistingStoreInterface
class Latch\Semaphore\Store\RedisStore : Latch\Semaphore\PersistingStoreInterface
class Latch\Semaphore\Store\SemaphoreStore : Latch\Semaphore\PersistingStoreInterface
class Latch\Semaphore\Store\StoreFactory
final class Latch\Sequence
interface Latch\SharedLockInterface : Latch\LockInterface
interface Latch\SharedLockStoreInterface : Latch\PersistingStoreInterface
class Latch\Store\StoreFactory
class Latch\Strategy\ConsensusStrategy : Latch\Strategy\StrategyInterface
interface Latch\Strategy\StrategyInterface
class Latch\Strategy\UnanimousStrategy : Latch\Strategy\StrategyInterface
final class Latch\SyncFactory
final class Latch\Throttle
final class Latch\Turn
final class Latch\Version
string(1) "0"
array(0) {
}
