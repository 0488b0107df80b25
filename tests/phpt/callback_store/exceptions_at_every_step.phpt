--TEST--
Whatever a PHP store throws at whatever step, the counts stay right and nothing stays locked
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{BlockingStoreInterface, Key, Lock, SharedLockStoreInterface};
use Latch\Exception\{LockAcquiringException, LockConflictedException, LockExpiredException, LockReleasingException, LockStorageException};

class FullStore extends RecordingStore implements BlockingStoreInterface, SharedLockStoreInterface
{
    public function waitAndSave(Key $key): void
    {
        $this->save($key);
    }

    public function saveRead(Key $key): void
    {
        $this->save($key);
    }
}

$class_of = fn (?Throwable $e) => $e === null ? 'nothing' : (new ReflectionClass($e))->getShortName();
$directory = temporary_directory();
$number = 0;
$scenarios = [
    'acquire' => fn (Lock $lock) => $lock->acquire(),
    'acquire and wait' => fn (Lock $lock) => $lock->acquire(true),
    'acquire with timeout' => fn (Lock $lock) => $lock->acquire(true, 0.001),
    'acquireRead' => fn (Lock $lock) => $lock->acquireRead(),
    'refresh' => fn (Lock $lock) => $lock->refresh(),
    'release' => fn (Lock $lock) => $lock->release(),
    'isAcquired' => fn (Lock $lock) => $lock->isAcquired(),
    'synchronized' => fn (Lock $lock) => $lock->synchronized(fn () => 1),
];
foreach ($scenarios as $name => $scenario) {
    foreach (['save', 'putOffExpiration', 'exists', 'delete'] as $step) {
        $ends = [];
        foreach ([RuntimeException::class, LockConflictedException::class, LockExpiredException::class,
            LockReleasingException::class, LockAcquiringException::class, Error::class, TypeError::class] as $class) {
            mkdir("$directory/" . ++$number);
            $store = new FullStore("$directory/$number");
            $key = new Key('a');
            $lock = new Lock($key, $store, 60);
            if (in_array($name, ['refresh', 'release', 'isAcquired'])) {
                $lock->acquire();
            }
            $thrown = new $class('by the store');
            $store->before = function (string $call) use ($thrown, $step) {
                if ($call === $step) {
                    throw $thrown;
                }
            };
            $caught = null;
            try {
                $scenario($lock);
            } catch (Throwable $caught) {
            }
            $store->before = null;
            $first = $caught;
            while ($first?->getPrevious() !== null) {
                $first = $first->getPrevious();
            }
            check($caught === null || $first === $thrown || str_contains($first->getMessage(), 'not free within'),
                "$name, $step, $class: the store's exception is the first cause");
            check(!($thrown instanceof Error) || $caught === null || $caught === $thrown,
                "$name, $step, $class: an Error goes through as it is");
            $ends[] = $class_of($caught);
            unset($lock, $caught, $first);
            if ($step === 'putOffExpiration' && $class === LockConflictedException::class) {
                continue; // the store says that somebody else has it: then it is not ours to release
            }
            check(!$store->is_locked('a'), "$name, $step, $class: free when the lock object is gone");
            check((new Lock(new Key('a'), $store))->acquire(), "$name, $step, $class: others can have it");
        }
        echo "$name, $step: ", implode(' ', $ends), "\n";
    }
}
--EXPECT--
acquire, save: LockAcquiringException nothing LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquire, putOffExpiration: LockAcquiringException nothing LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquire, exists: nothing nothing nothing nothing nothing nothing nothing
acquire, delete: nothing nothing nothing nothing nothing nothing nothing
acquire and wait, save: LockAcquiringException LockConflictedException LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquire and wait, putOffExpiration: LockAcquiringException LockConflictedException LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquire and wait, exists: nothing nothing nothing nothing nothing nothing nothing
acquire and wait, delete: nothing nothing nothing nothing nothing nothing nothing
acquire with timeout, save: LockAcquiringException nothing LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquire with timeout, putOffExpiration: LockAcquiringException nothing LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquire with timeout, exists: nothing nothing nothing nothing nothing nothing nothing
acquire with timeout, delete: nothing nothing nothing nothing nothing nothing nothing
acquireRead, save: LockAcquiringException nothing LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquireRead, putOffExpiration: LockAcquiringException nothing LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
acquireRead, exists: nothing nothing nothing nothing nothing nothing nothing
acquireRead, delete: nothing nothing nothing nothing nothing nothing nothing
refresh, save: nothing nothing nothing nothing nothing nothing nothing
refresh, putOffExpiration: LockAcquiringException LockConflictedException LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
refresh, exists: nothing nothing nothing nothing nothing nothing nothing
refresh, delete: nothing nothing nothing nothing nothing nothing nothing
release, save: nothing nothing nothing nothing nothing nothing nothing
release, putOffExpiration: nothing nothing nothing nothing nothing nothing nothing
release, exists: RuntimeException LockConflictedException LockExpiredException LockReleasingException LockAcquiringException Error TypeError
release, delete: LockReleasingException LockReleasingException LockReleasingException LockReleasingException LockReleasingException Error TypeError
isAcquired, save: nothing nothing nothing nothing nothing nothing nothing
isAcquired, putOffExpiration: nothing nothing nothing nothing nothing nothing nothing
isAcquired, exists: RuntimeException LockConflictedException LockExpiredException LockReleasingException LockAcquiringException Error TypeError
isAcquired, delete: nothing nothing nothing nothing nothing nothing nothing
synchronized, save: LockAcquiringException LockConflictedException LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
synchronized, putOffExpiration: LockAcquiringException LockConflictedException LockAcquiringException LockAcquiringException LockAcquiringException Error TypeError
synchronized, exists: RuntimeException LockConflictedException LockExpiredException LockReleasingException LockAcquiringException Error TypeError
synchronized, delete: LockReleasingException LockReleasingException LockReleasingException LockReleasingException LockReleasingException Error TypeError
