--TEST--
A factory makes locks with its store, TTL, release and logger
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock, LockFactory, SharedLockInterface};
use Latch\Store\InMemoryStore;

$store = new RecordingStore(temporary_directory());
$factory = new LockFactory($store);
$lock = $factory->createLock('a');
check($lock instanceof Lock && $lock instanceof SharedLockInterface, 'a Lock');
$lock->acquire();
check(abs($lock->getRemainingLifetime() - 300) < 20, 'a TTL of 300 s by default');
unset($lock);
check_same(['save a', 'putOffExpiration a', 'exists a', 'delete a', 'exists a'], $store->calls(), 'the calls');

$lock = $factory->createLock('a', null);
$lock->acquire();
check_same(null, $lock->getRemainingLifetime(), 'without TTL');
unset($lock);
$lock = $factory->createLock('a', 10, false);
$lock->acquire();
unset($lock);
check($store->is_locked('a'), 'without automatic release');
$key = new Key('b');
$lock = $factory->createLockFromKey($key, 20);
$lock->acquire();
check(abs($key->getRemainingLifetime() - 20) < 10, 'with the key that was given');
unset($lock);
check(!$store->is_locked('b'), 'released automatically');

$factory->setLogger($logger = new Logger());
$factory->createLock('c')->acquire();
check(count($logger->take()) > 0, 'with the logger');
$factory->createLockFromKey(new Key('d'))->acquire();
check(count($logger->take()) > 0, 'with the logger');
$clone = clone $factory;
$clone->setLogger($other = new Logger());
$factory->createLock('e')->acquire();
check(count($logger->take()) > 0 && $other->take() === [], 'a clone has its own logger');
check(!(new ReflectionClass(LockFactory::class))->isFinal(), 'may be extended');
/* Named arguments, as Symfony's. */
$factory->createLock(resource: 'f', ttl: 5.0, autoRelease: true);
$factory->createLockFromKey(key: $key, ttl: 5.0, autoRelease: true);
$class = new ReflectionClass(LockFactory::class);
echo $class->getMethod('createLock'), $class->getMethod('createLockFromKey');
echo "done\n";
--EXPECT--
Method [ <internal:latch> public method createLock ] {

  - Parameters [3] {
    Parameter #0 [ <required> string $resource ]
    Parameter #1 [ <optional> ?float $ttl = 300.0 ]
    Parameter #2 [ <optional> bool $autoRelease = true ]
  }
  - Return [ Latch\SharedLockInterface ]
}
Method [ <internal:latch> public method createLockFromKey ] {

  - Parameters [3] {
    Parameter #0 [ <required> Latch\Key $key ]
    Parameter #1 [ <optional> ?float $ttl = 300.0 ]
    Parameter #2 [ <optional> bool $autoRelease = true ]
  }
  - Return [ Latch\SharedLockInterface ]
}
done
