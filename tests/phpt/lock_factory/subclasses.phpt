--TEST--
A subclass of LockFactory is asked and sees the logger, as with Symfony's
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock, LockFactory, NoLock, PersistingStoreInterface, SharedLockInterface};
use Latch\Store\InMemoryStore;

class Prefixing extends LockFactory
{
    public function createLock(string $resource, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface
    {
        return parent::createLock("prefix:$resource", $ttl, $autoRelease);
    }

    public function logger(): ?Psr\Log\LoggerInterface
    {
        return $this->logger;
    }
}

class FromKey extends LockFactory
{
    public array $asked = [];

    public function createLockFromKey(Key $key, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface
    {
        $this->asked[] = [(string) $key, $ttl, $autoRelease];
        return parent::createLockFromKey($key, $ttl, $autoRelease);
    }
}

class Nothing extends LockFactory
{
    public function createLockFromKey(Key $key, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface
    {
        return new NoLock();
    }
}

class Failing extends LockFactory
{
    public function createLockFromKey(Key $key, ?float $ttl = 300.0, bool $autoRelease = true): SharedLockInterface
    {
        throw new DomainException('no lock');
    }
}

class Unconstructed extends LockFactory
{
    public function __construct()
    {
    }
}

class WithProperty extends LockFactory
{
    public array $more = [];

    public function __construct(PersistingStoreInterface $store, array $more)
    {
        parent::__construct($store);
        $this->more = $more;
    }
}

$store = new InMemoryStore();
$factory = new Prefixing($store);
check_same(null, $factory->logger(), 'no logger at first');
$factory->setLogger($logger = new Logger());
check_same($logger, $factory->logger(), 'the logger');
$lock = $factory->createLock('a');
$lock->acquire();
check(!(new Lock(new Key('prefix:a'), $store))->acquire(), 'the overridden createLock()');

$factory = new FromKey($store);
$factory->createLock('b');
$factory->createLock('c', null, false);
$factory->createLock('d', 5);
check_same([['b', 300.0, true], ['c', null, false], ['d', 5.0, true]], $factory->asked, 'asked');

check((new Nothing($store))->createLock('e') instanceof NoLock, 'what the subclass makes');
echo outcome(fn () => (new Failing($store))->createLock('f')), "\n";
echo outcome(fn () => (new Unconstructed())->createLock('g')), "\n";
echo outcome(fn () => (new Unconstructed())->createLockFromKey(new Key('g'))), "\n";
$factory = new WithProperty($store, ['x']);
check_same(['x'], $factory->more, 'its own properties');
check($factory->createLock('h')->acquire(), 'works');
echo outcome(fn () => (new ReflectionClass(LockFactory::class))->newInstanceWithoutConstructor()->createLock('i')), "\n";

/* The store may be reached from the factory it is kept in: a cycle, which is collected. */
class Cycle implements PersistingStoreInterface
{
    public ?LockFactory $factory = null;

    public function save(Key $key): void
    {
    }

    public function delete(Key $key): void
    {
    }

    public function exists(Key $key): bool
    {
        return true;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
    }
}
$cycle = new Cycle();
$cycle->factory = new LockFactory($cycle);
$weak = WeakReference::create($cycle);
unset($cycle);
gc_collect_cycles();
check_same(null, $weak->get(), 'collected');
echo "done\n";
--EXPECT--
DomainException: no lock
Error: Typed property Latch\LockFactory::$store must not be accessed before initialization
Error: Typed property Latch\LockFactory::$store must not be accessed before initialization
Error: Typed property Latch\LockFactory::$store must not be accessed before initialization
done
