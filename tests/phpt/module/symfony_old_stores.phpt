--TEST--
latch.symfony=1: a store of the time before return types loads, and so does a subclass of ours, with deprecations at most
--INI--
latch.symfony=1
error_reporting=-1
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

set_error_handler(function (int $level, string $message) {
    check($level === E_DEPRECATED, $message);
    return true;
});
/* Compiled after the handler is set. */
eval('
use Symfony\Component\Lock\{BlockingSharedLockStoreInterface, BlockingStoreInterface, Key, LockInterface, SharedLockInterface};

class OldStore implements BlockingSharedLockStoreInterface, BlockingStoreInterface
{
    public $keys = [];
    public function save(Key $key) { $this->keys[(string) $key] = $key; }
    public function delete(Key $key) { unset($this->keys[(string) $key]); }
    public function exists(Key $key) { return isset($this->keys[(string) $key]); }
    public function putOffExpiration(Key $key, float $ttl) { }
    public function saveRead(Key $key) { $this->save($key); }
    public function waitAndSave(Key $key) { $this->save($key); }
    public function waitAndSaveRead(Key $key) { $this->save($key); }
}

class OldSubclass extends \\Symfony\\Component\\Lock\\Store\\FlockStore
{
    public $calls = [];
    public function save(Key $key) { $this->calls[] = "save"; parent::save($key); }
    public function saveRead(Key $key) { parent::saveRead($key); }
    public function waitAndSave(Key $key) { parent::waitAndSave($key); }
    public function waitAndSaveRead(Key $key) { parent::waitAndSaveRead($key); }
    public function putOffExpiration(Key $key, float $ttl) { $this->calls[] = "putOffExpiration"; }
    public function delete(Key $key) { $this->calls[] = "delete"; parent::delete($key); }
}

class OldLock implements SharedLockInterface
{
    public function acquire(bool $blocking = false) { return true; }
    public function acquireRead(bool $blocking = false) { return true; }
    public function refresh(float $ttl = null) { }
    public function isAcquired() { return true; }
    public function release() { }
    public function isExpired() { return false; }
    public function getRemainingLifetime() { return null; }
}

class WithTrait implements Psr\Log\LoggerAwareInterface
{
    protected ?Psr\Log\LoggerInterface $logger = null;
    public function setLogger(Psr\Log\LoggerInterface $logger): void { $this->logger = $logger; }
}

class WithOldTrait implements Psr\Log\LoggerAwareInterface
{
    protected $logger;
    public function setLogger(Psr\Log\LoggerInterface $logger) { $this->logger = $logger; }
}
');
use Symfony\Component\Lock\{Key, Lock};

$store = new OldStore();
$lock = new Lock(new Key('a'), $store, 10);
check($lock->acquire() && $lock->isAcquired(), 'works');
unset($lock);
check_same([], $store->keys, 'released');
$store = new OldSubclass();
$lock = new Lock(new Key('latch test ' . getmypid()), $store);
check($lock->acquire(), 'works, too');
$lock->release();
check_same(['save', 'delete'], $store->calls, 'its methods are called');
check((new OldLock())->acquire(), 'an old lock');
new WithTrait();
new WithOldTrait();
echo "done\n";
--EXPECT--
done
