--TEST--
A store that a thread cannot drive is refused with its reason; locks that do not expire need no renewal
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, NullStore, RedisStore, SemaphoreStore, SharedMemoryStore};
use Latch\Strategy\{StrategyInterface, UnanimousStrategy};
use Latch\Tests\RedisServer;

class OwnRedisStore extends RedisStore
{
    public function putOffExpiration(Key $key, float $ttl): void
    {
        parent::putOffExpiration($key, $ttl);
    }
}
class NamedRedisStore extends RedisStore
{
}
class OwnStrategy implements StrategyInterface
{
    public function isMet(int $numberOfSuccess, int $numberOfTotal): bool
    {
        return $numberOfSuccess === $numberOfTotal;
    }

    public function canBeMet(int $numberOfFailure, int $numberOfTotal): bool
    {
        return $numberOfFailure === 0;
    }
}

$server = new RedisServer();
$directory = temporary_directory();
$redis = new RedisStore($server->dsn());

foreach ([
    'written in PHP' => $recording = new RecordingStore($directory),
    'a PHP subclass' => new OwnRedisStore($server->dsn()),
    'a member in PHP' => new CombinedStore([$redis, $recording], new UnanimousStrategy()),
    'a strategy in PHP' => new CombinedStore([$redis], new OwnStrategy()),
    'a member that does not expire' => new CombinedStore([$redis, new FlockStore($directory)], new UnanimousStrategy()),
] as $name => $store) {
    $lock = new Lock(new Key('a lock'), $store, 60);
    foreach (['keepAlive', 'onLost'] as $method) {
        try {
            $method === 'keepAlive' ? $lock->keepAlive() : $lock->onLost(fn () => null);
            if ($method === 'keepAlive') {
                echo "BROKEN: $name: $method() does nothing\n";
            }
        } catch (Latch\Exception\InvalidArgumentException $e) {
            $pattern = '/^The "a lock" lock cannot be ' . ($method === 'onLost' ? 'watched' : 'kept alive') . ' in a '
                . preg_quote(get_class($store)) . ': .+; call refresh\(\) in time\.$/';
            check_same(1, preg_match($pattern, $e->getMessage()), "$name: {$e->getMessage()}");
        }
    }
    $recording->forget_calls();
    check($lock->acquire() && $lock->isHeld(), "$name: the lock is what it was");
    $lock->refresh();
    $lock->release();
    unset($lock);
}
check($server->lacks('a lock'), 'released');

foreach ([
    'flock' => new FlockStore($directory),
    'semaphore' => new SemaphoreStore(),
    'shared memory' => new SharedMemoryStore("$directory/shared", 100),
    'memory' => new InMemoryStore(),
    'null' => new NullStore(),
    'a subclass that changes nothing' => new NamedRedisStore($server->dsn()),
] as $name => $store) {
    foreach ([null, 60] as $ttl) {
        $lock = new Lock(new Key("$directory $name"), $store, $ttl);
        $told = 0;
        check_same($lock, $lock->keepAlive()->onLost(function () use (&$told) { $told++; }), "$name: it is taken");
        check($lock->acquire(), "$name: acquired");
        check_same($name !== 'null', $lock->isHeld(), "$name: held");
        check_same(false, $lock->isExpired(), "$name: expired");
        usleep(1000);
        $lock->release();
        check($lock->acquire(), "$name: acquired again");
        unset($lock);
        check_same(0, $told, "$name: losses");
    }
}
check_same(0, Lock::getStatistics()['lost'], 'lost');
echo "done\n";
--EXPECT--
done
