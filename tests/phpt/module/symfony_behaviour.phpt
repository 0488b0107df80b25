--TEST--
latch.symfony=1: instanceof both ways, messages, serialised keys and get_class() are Symfony's
--INI--
latch.symfony=1
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Symfony\Component\Lock\{BlockingStoreInterface, Key, Lock, LockFactory, LockInterface, NoLock, PersistingStoreInterface,
    SharedLockInterface};
use Symfony\Component\Lock\Exception\{ExceptionInterface, LockConflictedException, UnserializableKeyException};
use Symfony\Component\Lock\Store\{FlockStore, InMemoryStore};

$directory = temporary_directory();
$key = new Latch\Key('a');
check_same('Symfony\Component\Lock\Key', get_class($key), 'get_class()');
check($key instanceof Key && new Key('a') instanceof Latch\Key, 'Key both ways');
check(new Latch\Store\InMemoryStore() instanceof InMemoryStore, 'stores');
check(new NoLock() instanceof Latch\LockInterface && new Latch\NoLock() instanceof SharedLockInterface, 'interfaces');
check_same('O:26:"Symfony\Component\Lock\Key":3:{s:8:"resource";s:1:"a";s:12:"expiringTime";N;s:5:"state";a:0:{}}',
    serialize($key), 'serialised');
check(unserialize('O:9:"Latch\Key":1:{s:8:"resource";s:1:"r";}') instanceof Key, "Latch's key is read too");
check(unserialize(serialize($key)) instanceof Key, 'read again');

$store = new FlockStore($directory);
$lock = new Lock($key, $store);
check($lock instanceof Latch\Lock && $lock instanceof LockInterface, 'Lock');
check($lock instanceof Psr\Log\LoggerAwareInterface && new LockFactory($store) instanceof Psr\Log\LoggerAwareInterface,
    'LoggerAwareInterface');
check(!(new ReflectionMethod('Psr\Log\LoggerAwareInterface', 'setLogger'))->hasReturnType(), 'without return type');
$lock->setLogger($logger = new Logger());
check($lock->acquire(), 'acquired');
check(count($logger->lines) === 0 || str_contains($logger->lines[0], 'Successfully acquired'), 'logged');
echo outcome(fn () => serialize($key)), "\n";
echo outcome(fn () => serialize($lock)), "\n";
echo outcome(fn () => new Lock('a', $store)), "\n";
echo outcome(fn () => new Lock($key, $store, -1)), "\n";
echo outcome(fn () => $store->save(new Key('a'))), "\n";
try {
    $store->save(new Key('a'));
} catch (Latch\Exception\LockConflictedException $e) {
    check($e instanceof LockConflictedException && $e instanceof ExceptionInterface, 'exceptions both ways');
}
$memory = new InMemoryStore();
$held = new Lock($other = new Key('b'), $memory);
$held->acquire();
check($other->hasState('Symfony\Component\Lock\Store\InMemoryStore'), "the state's name");

/* A store that was written for Symfony, and one for Latch: each fits both. */
class SymfonyStore implements Symfony\Component\Lock\PersistingStoreInterface
{
    public function save(Symfony\Component\Lock\Key $key): void
    {
    }

    public function delete(Latch\Key $key): void
    {
    }

    public function exists(Symfony\Component\Lock\Key $key): bool
    {
        return false;
    }

    public function putOffExpiration(Symfony\Component\Lock\Key $key, float $ttl): void
    {
    }
}

class LatchStore extends SymfonyStore implements Latch\BlockingStoreInterface
{
    public function waitAndSave(Latch\Key $key): void
    {
    }
}
check(new SymfonyStore() instanceof Latch\PersistingStoreInterface, 'instanceof');
check(new LatchStore() instanceof BlockingStoreInterface, 'instanceof');
check((new LockFactory(new LatchStore()))->createLock('c')->acquire(true), 'used');
echo "done\n";
--EXPECT--
Symfony\Component\Lock\Exception\UnserializableKeyException: The key cannot be serialized.
BadMethodCallException: Cannot serialize Symfony\Component\Lock\Lock
TypeError: Symfony\Component\Lock\Lock::__construct(): Argument #1 ($key) must be of type Symfony\Component\Lock\Key, string given
Symfony\Component\Lock\Exception\InvalidTtlException: Symfony\Component\Lock\Lock::__construct(): Argument #3 ($ttl) must be a finite number of seconds, 0 or more
Symfony\Component\Lock\Exception\LockConflictedException: 
done
