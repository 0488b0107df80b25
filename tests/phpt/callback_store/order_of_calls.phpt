--TEST--
A store written in PHP is called in Symfony's order and number
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{BlockingSharedLockStoreInterface, BlockingStoreInterface, Key, Lock, PersistingStoreInterface, SharedLockStoreInterface};
use Latch\Exception\LockConflictedException;

abstract class Base implements PersistingStoreInterface
{
    public array $calls = [];
    public int $conflicts = 0;
    public bool $exists = false;

    protected function called(string $name, Key $key, mixed ...$more): void
    {
        $this->calls[] = implode(' ', [$name, ...$more]);
        if (str_contains(strtolower($name), 'save') && $this->conflicts > 0) {
            $this->conflicts--;
            throw new LockConflictedException();
        }
    }

    public function save(Key $key): void
    {
        $this->called('save', $key);
        $this->exists = true;
    }

    public function delete(Key $key): void
    {
        $this->called('delete', $key);
        $this->exists = false;
    }

    public function exists(Key $key): bool
    {
        $this->called('exists', $key);
        return $this->exists;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->called('putOffExpiration', $key, $ttl);
    }
}

class Persisting extends Base
{
}

class Blocking extends Base implements BlockingStoreInterface
{
    public function waitAndSave(Key $key): void
    {
        $this->called('waitAndSave', $key);
        $this->exists = true;
    }
}

class Shared extends Base implements SharedLockStoreInterface
{
    public function saveRead(Key $key): void
    {
        $this->called('saveRead', $key);
        $this->exists = true;
    }
}

class BlockingShared extends Shared implements BlockingSharedLockStoreInterface
{
    public function waitAndSaveRead(Key $key): void
    {
        $this->called('waitAndSaveRead', $key);
        $this->exists = true;
    }
}

class All extends BlockingShared implements BlockingStoreInterface
{
    public function waitAndSave(Key $key): void
    {
        $this->called('waitAndSave', $key);
        $this->exists = true;
    }
}

foreach ([Persisting::class, Blocking::class, Shared::class, BlockingShared::class, All::class] as $class) {
    echo "$class\n";
    foreach ([
        'acquire' => fn ($lock) => $lock->acquire(),
        'acquire, wait' => fn ($lock) => $lock->acquire(true),
        'acquire, timeout' => fn ($lock) => $lock->acquire(true, 10),
        'acquireRead' => fn ($lock) => $lock->acquireRead(),
        'acquireRead, wait' => fn ($lock) => $lock->acquireRead(true),
        'acquireRead, timeout' => fn ($lock) => $lock->acquireRead(true, 10),
        'synchronized' => fn ($lock) => $lock->synchronized(fn () => null),
        'refresh' => fn ($lock) => $lock->refresh(5),
        'release' => fn ($lock) => $lock->release(),
        'isAcquired' => fn ($lock) => $lock->isAcquired(),
    ] as $name => $call) {
        $store = new $class();
        $lock = new Lock(new Key('a'), $store, 60);
        $store->conflicts = str_contains($name, 'timeout') ? 1 : 0;
        $call($lock);
        $store->calls[] = '|';
        unset($lock);
        echo "  $name: ", implode(', ', $store->calls), "\n";
    }
}
$store = new Persisting();
$store->conflicts = 2;
$lock = new Lock(new Key('a'), $store);
$lock->acquire();
$lock->acquire();
echo 'two conflicts: ', implode(', ', $store->calls), "\n";
$store->calls = [];
$lock->acquire(true);
echo 'without TTL: ', implode(', ', $store->calls), "\n";
--EXPECT--
Persisting
  acquire: save, putOffExpiration 60, |, exists, delete, exists
  acquire, wait: save, putOffExpiration 60, |, exists, delete, exists
  acquire, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  acquireRead: save, putOffExpiration 60, |, exists, delete, exists
  acquireRead, wait: save, putOffExpiration 60, |, exists, delete, exists
  acquireRead, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  synchronized: save, putOffExpiration 60, delete, exists, |
  refresh: putOffExpiration 5, |, exists
  release: delete, exists, |
  isAcquired: exists, |
Blocking
  acquire: save, putOffExpiration 60, |, exists, delete, exists
  acquire, wait: waitAndSave, putOffExpiration 60, |, exists, delete, exists
  acquire, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  acquireRead: save, putOffExpiration 60, |, exists, delete, exists
  acquireRead, wait: waitAndSave, putOffExpiration 60, |, exists, delete, exists
  acquireRead, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  synchronized: waitAndSave, putOffExpiration 60, delete, exists, |
  refresh: putOffExpiration 5, |, exists
  release: delete, exists, |
  isAcquired: exists, |
Shared
  acquire: save, putOffExpiration 60, |, exists, delete, exists
  acquire, wait: save, putOffExpiration 60, |, exists, delete, exists
  acquire, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  acquireRead: saveRead, putOffExpiration 60, |, exists, delete, exists
  acquireRead, wait: saveRead, putOffExpiration 60, |, exists, delete, exists
  acquireRead, timeout: saveRead, saveRead, putOffExpiration 60, |, exists, delete, exists
  synchronized: save, putOffExpiration 60, delete, exists, |
  refresh: putOffExpiration 5, |, exists
  release: delete, exists, |
  isAcquired: exists, |
BlockingShared
  acquire: save, putOffExpiration 60, |, exists, delete, exists
  acquire, wait: save, putOffExpiration 60, |, exists, delete, exists
  acquire, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  acquireRead: saveRead, putOffExpiration 60, |, exists, delete, exists
  acquireRead, wait: waitAndSaveRead, putOffExpiration 60, |, exists, delete, exists
  acquireRead, timeout: saveRead, saveRead, putOffExpiration 60, |, exists, delete, exists
  synchronized: save, putOffExpiration 60, delete, exists, |
  refresh: putOffExpiration 5, |, exists
  release: delete, exists, |
  isAcquired: exists, |
All
  acquire: save, putOffExpiration 60, |, exists, delete, exists
  acquire, wait: waitAndSave, putOffExpiration 60, |, exists, delete, exists
  acquire, timeout: save, save, putOffExpiration 60, |, exists, delete, exists
  acquireRead: saveRead, putOffExpiration 60, |, exists, delete, exists
  acquireRead, wait: waitAndSaveRead, putOffExpiration 60, |, exists, delete, exists
  acquireRead, timeout: saveRead, saveRead, putOffExpiration 60, |, exists, delete, exists
  synchronized: waitAndSave, putOffExpiration 60, delete, exists, |
  refresh: putOffExpiration 5, |, exists
  release: delete, exists, |
  isAcquired: exists, |
two conflicts: save, save
without TTL: save
