--TEST--
A lock logs Symfony's lines in Symfony's order
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

$directory = temporary_directory();
$recording = new RecordingStore($directory);
foreach (['flock' => new FlockStore($directory), 'in memory' => new InMemoryStore(), 'PHP' => $recording] as $name => $store) {
    echo "$name\n";
    $logger = new Logger();
    $say = function (string $what) use ($logger) {
        echo "  $what\n";
        foreach ($logger->take() as $line) {
            echo "    $line\n";
        }
    };
    $other = new Lock(new Key('r'), $store);
    $lock = new Lock(new Key('r'), $store, 60);
    $lock->setLogger($logger);
    $lock->acquire();
    $say('acquire');
    $lock->refresh();
    $lock->refresh(5);
    $say('refresh, refresh(5)');
    $lock->isAcquired();
    $lock->isHeld();
    $lock->isExpired();
    $lock->getRemainingLifetime();
    $say('questions');
    $lock->release();
    $say('release');
    $lock->release();
    $say('release again');
    $other->acquire();
    $lock->acquire();
    $say('conflict');
    $lock->acquire(true, 0.01);
    $say('conflict after a timeout');
    outcome(fn () => $lock->synchronized(fn () => null, 0.01));
    $say('synchronized, conflict');
    $other->release();
    $lock->acquireRead();
    $say('acquireRead');
    $lock->acquire();
    $say('promotion');
    $lock->synchronized(fn () => null);
    $say('synchronized, held already');
    $lock->release();
    $lock->synchronized(fn () => null);
    $say('release and synchronized');
    $lock->acquire();
    unset($lock);
    $say('acquire and destructor');
}

echo "a store that fails\n";
foreach (['save', 'putOffExpiration', 'delete', 'exists'] as $method) {
    $lock = new Lock(new Key('f'), $recording, 60);
    $lock->setLogger($logger);
    $recording->before = null;
    if ($method !== 'save' && $method !== 'putOffExpiration') {
        $lock->acquire();
    }
    $logger->take();
    $recording->before = function (string $call) use ($method) {
        if ($call === $method) {
            throw new RuntimeException("$method failed");
        }
    };
    echo '  ', outcome(fn () => in_array($method, ['delete', 'exists']) ? $lock->release() : $lock->acquire()), "\n";
    $say($method);
    $recording->before = null;
    unset($lock);
    $say('destructor');
}
--EXPECT--
flock
  acquire
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  refresh, refresh(5)
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=5.0]
  questions
  release
    debug: Successfully released the "<r>" lock.
  release again
    debug: Successfully released the "<r>" lock.
  conflict
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  conflict after a timeout
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  synchronized, conflict
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  acquireRead
    debug: Successfully acquired the "<r>" lock for reading.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  promotion
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  synchronized, held already
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  release and synchronized
    debug: Successfully released the "<r>" lock.
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Successfully released the "<r>" lock.
  acquire and destructor
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Successfully released the "<r>" lock.
in memory
  acquire
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  refresh, refresh(5)
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=5.0]
  questions
  release
    debug: Successfully released the "<r>" lock.
  release again
    debug: Successfully released the "<r>" lock.
  conflict
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  conflict after a timeout
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  synchronized, conflict
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  acquireRead
    debug: Successfully acquired the "<r>" lock for reading.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  promotion
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  synchronized, held already
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  release and synchronized
    debug: Successfully released the "<r>" lock.
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Successfully released the "<r>" lock.
  acquire and destructor
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Successfully released the "<r>" lock.
PHP
  acquire
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  refresh, refresh(5)
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=5.0]
  questions
  release
    debug: Successfully released the "<r>" lock.
  release again
    debug: Successfully released the "<r>" lock.
  conflict
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  conflict after a timeout
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  synchronized, conflict
    info: Failed to acquire the "<r>" lock. Someone else already acquired the lock.
  acquireRead
    debug: Store does not support ReadLocks, fallback to WriteLock.
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  promotion
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  synchronized, held already
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
  release and synchronized
    debug: Successfully released the "<r>" lock.
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Successfully released the "<r>" lock.
  acquire and destructor
    debug: Successfully acquired the "<r>" lock.
    debug: Expiration defined for "<r>" lock for "{ttl}" seconds. [ttl=60.0]
    debug: Successfully released the "<r>" lock.
a store that fails
  Latch\Exception\LockAcquiringException: Failed to acquire the "f" lock.
  save
    notice: Failed to acquire the "<f>" lock. [exception=RuntimeException]
  destructor
  Latch\Exception\LockAcquiringException: Failed to acquire the "f" lock.
  putOffExpiration
    debug: Successfully acquired the "<f>" lock.
    notice: Failed to define an expiration for the "<f>" lock. [exception=RuntimeException]
    notice: Failed to acquire the "<f>" lock. [exception=Latch\Exception\LockAcquiringException]
  destructor
    debug: Successfully released the "<f>" lock.
  Latch\Exception\LockReleasingException: Failed to release the "f" lock.
  delete
    notice: Failed to release the "<f>" lock.
  destructor
    debug: Successfully released the "<f>" lock.
  RuntimeException: exists failed
  exists
  destructor
