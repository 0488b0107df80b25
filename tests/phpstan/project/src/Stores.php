<?php

declare(strict_types=1);

namespace Shop;

use Doctrine\DBAL\Schema\Schema;
use Latch\Exception\LockExpiredException;
use Latch\Key;
use Latch\LockInterface;
use Latch\NoLock;
use Latch\SharedLockInterface;
use Latch\Store\CombinedStore;
use Latch\Store\DoctrineDbalMysqlStore;
use Latch\Store\DoctrineDbalPostgreSqlStore;
use Latch\Store\DoctrineDbalStore;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Store\MysqlStore;
use Latch\Store\NullStore;
use Latch\Store\PdoStore;
use Latch\Store\PostgreSqlStore;
use Latch\Store\RedisStore;
use Latch\Store\RedisStringStore;
use Latch\Store\SemaphoreStore;
use Latch\Store\SharedMemoryStore;
use Latch\Store\StoreFactory;
use Latch\Strategy\ConsensusStrategy;
use Latch\Strategy\StrategyInterface;
use Latch\Strategy\UnanimousStrategy;
use Psr\Log\LoggerInterface;

use const Latch\IGNORED_SIGNALS;

/** Calls every method of every store, and of what is no lock: for those who write stores of their own. */
final class Stores
{
    public function files(string $directory, Key $key): bool
    {
        $store = new FlockStore($directory, removeOnRelease: true);
        $store->save($key);
        $store->saveRead($key);
        $store->waitAndSave($key);
        $store->waitAndSaveRead($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $store->inspect($key)['mode'] !== null && count($store->listHeld()) > 0;
        $store->delete($key);

        return $held && !$store->exists($key);
    }

    public function semaphores(Key $key, string $application): bool
    {
        if (!SemaphoreStore::isSupported()) {
            return false;
        }
        $store = new SemaphoreStore($application, digest: 'xxh64');
        $store->save($key);
        $store->waitAndSave($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $store->inspect($key)['mode'] === 'exclusive';
        $store->delete($key);

        return $held && !$store->exists($key);
    }

    public function sharedMemory(Key $key): bool
    {
        $store = new SharedMemoryStore('/dev/shm/shop/locks', capacity: 1000, mode: 0660);
        $store->save($key);
        $store->saveRead($key);
        $store->waitAndSave($key);
        $store->waitAndSaveRead($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $this->isOurs($store->inspect($key)['holders']);
        $store->delete($key);

        return $held && $store->forceRelease($key, $this->others($store->listHeld())) === 0;
    }

    public function redis(#[\SensitiveParameter] string $dsn, Key $key): bool
    {
        $store = new RedisStore($dsn, initialTtl: 60.0);
        $store->save($key);
        $store->saveRead($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $this->isOurs($store->inspect($key)['holders']);
        $store->delete($key);

        return $held && $store->forceRelease($key, $this->others($store->listHeld(foreign: true))) === 0;
    }

    public function redisStrings(#[\SensitiveParameter] string $dsn, string $owner): bool
    {
        $store = new RedisStringStore($dsn, initialTtl: null);
        $key = RedisStringStore::key('orders', $owner);
        $store->save($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $this->isOurs($store->inspect($key)['holders']) && $store->owner($key) === $owner;
        if (!$store->release($key)) {
            $store->delete($key);
        }

        return $held && !$store->evict($key) && $store->forceRelease($key, $this->others($store->listHeld())) === 0;
    }

    /** @param list<array{host: string|null, pid: int|null, ...}> $holders */
    private function isOurs(array $holders): bool
    {
        return \in_array(getmypid(), array_column($holders, 'pid'), true);
    }

    /**
     * @param list<array{holders: list<array{id: string, remaining: float|null, ...}>, ...}> $locks
     *
     * @return list<string>
     */
    private function others(array $locks): array
    {
        return array_column(array_merge(...array_column($locks, 'holders')), 'id');
    }

    public function postgresql(\PDO $connection, #[\SensitiveParameter] string $password, Key $key): bool
    {
        $options = ['db_username' => 'shop', 'db_password' => $password, 'read_timeout' => 2.5];

        return $this->sharedLocks(new PostgreSqlStore($connection), $key)
            && $this->sharedLocks(new PostgreSqlStore('pgsql:host=localhost;dbname=shop', $options), $key)
            && $this->sharedLocks(new DoctrineDbalPostgreSqlStore('postgresql://localhost/shop'), $key);
    }

    private function sharedLocks(PostgreSqlStore|DoctrineDbalPostgreSqlStore $store, Key $key): bool
    {
        $store->save($key);
        $store->saveRead($key);
        $store->waitAndSave($key);
        $store->waitAndSaveRead($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $store->inspect($key)['mode'] === 'shared';
        $store->delete($key);

        return $held && !$store->exists($key);
    }

    public function mysql(\PDO $connection, Key $key): bool
    {
        return $this->exclusiveLocks(new MysqlStore($connection), $key)
            && $this->exclusiveLocks(new DoctrineDbalMysqlStore('mysql://localhost/shop'), $key);
    }

    private function exclusiveLocks(MysqlStore|DoctrineDbalMysqlStore $store, Key $key): bool
    {
        $store->save($key);
        $store->waitAndSave($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $store->inspect($key)['holders'][0]['session'] > 0;
        $store->delete($key);

        return $held && !$store->exists($key);
    }

    public function tables(\PDO $connection, Schema $schema, Key $key): bool
    {
        $store = new PdoStore($connection, ['db_table' => 'locks', 'names' => 'both'], 0.5, 60);
        $store->createTable();
        $byUrl = new DoctrineDbalStore('mysql://localhost/shop', ['db_table' => 'locks'], gcProbability: 0.0, initialTtl: 60);
        $byUrl->createTable();
        $filled = $byUrl->configureSchema($schema, static fn (\Closure $execute): bool => $execute('SELECT 1') !== 0);

        return $filled->isShops() && $this->rows($store, $key) && $this->rows($byUrl, $key);
    }

    private function rows(PdoStore|DoctrineDbalStore $store, Key $key): bool
    {
        $store->save($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $store->inspect($key)['holderCount'] === 1;
        $store->delete($key);

        return $held && !$store->exists($key) && $store->forceRelease($key, $this->others($store->listHeld())) === 0;
    }

    public function memory(Key $key): bool
    {
        $store = new InMemoryStore();
        $store->save($key);
        $store->saveRead($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key) && $this->holder($store->inspect($key)['holders']) === getmypid();
        $store->delete($key);

        return $held && !$store->exists($key);
    }

    public function nothing(Key $key): bool
    {
        $store = new NullStore();
        $store->save($key);
        $store->saveRead($key);
        $store->waitAndSaveRead($key);
        $store->putOffExpiration($key, 10.0);
        $store->delete($key);

        return !$store->exists($key) && $this->holder($store->inspect($key)['holders']) === null;
    }

    public function configured(#[\SensitiveParameter] string $dsn, Key $key): bool
    {
        $store = StoreFactory::createStore($dsn);
        $store->save($key);
        $held = $store->exists($key);
        $store->delete($key);
        $class = $this->classOf($dsn);

        return $held && !$store->exists($key) && $class !== null && is_a($store, $class);
    }

    /**
     * @return class-string|null
     */
    private function classOf(#[\SensitiveParameter] string $dsn): ?string
    {
        foreach (StoreFactory::describe($dsn) as ['class' => $class, 'ttl' => $ttl, 'expiring' => $isExpiring]) {
            return ($ttl !== null) === $isExpiring ? $class : null;
        }

        return null;
    }

    public function combined(LoggerInterface $logger, Key $key): bool
    {
        $store = new CombinedStore([new InMemoryStore(), new InMemoryStore()], new UnanimousStrategy());
        $store->setLogger($logger);
        $store->save($key);
        $store->saveRead($key);
        $store->putOffExpiration($key, 10.0);
        $held = $store->exists($key);
        $store->delete($key);

        return $held && !$store->exists($key);
    }

    public function agree(StrategyInterface $strategy, int $successes, int $stores): bool
    {
        return $strategy->isMet($successes, $stores) && $strategy->canBeMet($stores - $successes, $stores);
    }

    public function agreements(): bool
    {
        [$most, $all] = [new ConsensusStrategy(), new UnanimousStrategy()];

        return $this->agree($most, 2, 3) && $most->isMet(2, 3) && $most->canBeMet(1, 3)
            && !$this->agree($all, 2, 3) && !$all->isMet(2, 3) && !$all->canBeMet(1, 3);
    }

    public function noLock(NoLock $lock): bool
    {
        if (!$lock->acquire() || !$lock->acquireRead(true)) {
            return false;
        }
        $lock->refresh();
        $held = $lock->isAcquired() && !$lock->isExpired() && $lock->getRemainingLifetime() === null;
        $lock->release();

        return $held;
    }

    /** Whether the one who started this program wants it to live on when the terminal goes. */
    public function outlivesItsTerminal(): bool
    {
        // A constant without a value in the stubs has no type for PHPStan.
        return is_int(IGNORED_SIGNALS) && (IGNORED_SIGNALS & 1 << \SIGHUP - 1) !== 0;
    }

    /** @param list<array{pid: int}> $holders */
    private function holder(array $holders): ?int
    {
        return $holders[0]['pid'] ?? null;
    }

    /** Whatever locks: Latch's, or a class of one's own. */
    public function any(LockInterface $lock): bool
    {
        try {
            if (!$lock->acquire()) {
                return false;
            }
        } catch (LockExpiredException) {
            return false;
        }
        $lock->refresh(5.0);
        $held = $lock->isAcquired() && !$lock->isExpired() && ($lock->getRemainingLifetime() ?? 1.0) > 0.0;
        if ($lock instanceof SharedLockInterface) {
            $held = $lock->acquireRead() && $held;
        }
        $lock->release();

        return $held;
    }
}
