<?php

declare(strict_types=1);

namespace Shop;

use Latch\LockFactory;
use Latch\Semaphore\Exception\ExceptionInterface;
use Latch\Semaphore\Exception\InvalidArgumentException;
use Latch\Semaphore\Exception\RuntimeException;
use Latch\Semaphore\Exception\SemaphoreAcquiringException;
use Latch\Semaphore\Exception\SemaphoreExpiredException;
use Latch\Semaphore\Exception\SemaphoreReleasingException;
use Latch\Semaphore\Exception\SemaphoreStorageException;
use Latch\Semaphore\Exception\UnserializableKeyException;
use Latch\Semaphore\Key;
use Latch\Semaphore\PersistingStoreInterface;
use Latch\Semaphore\Semaphore;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\SemaphoreInterface;
use Latch\Semaphore\Store\InMemoryStore;
use Latch\Semaphore\Store\LockStore;
use Latch\Semaphore\Store\RedisStore;
use Latch\Semaphore\Store\SemaphoreStore;
use Latch\Semaphore\Store\StoreFactory;
use Latch\Store\FlockStore;
use Psr\Log\LoggerInterface;

/** Lets so many call an API at a time. */
final class Permits
{
    /** @var list<string> */
    private array $losses = [];

    public function made(LoggerInterface $logger): bool
    {
        $factory = new SemaphoreFactory(StoreFactory::createStore('in-memory'));
        $factory->setLogger($logger);
        $first = $factory->createSemaphore('api', 3, weight: 2, ttlInSecond: 10.0);
        $second = $factory->createSemaphoreFromKey(new Key('api', 3), 10.0, false);

        return $first->acquire() && $second->acquire() && !$factory->createSemaphore('api', 3)->acquire();
    }

    public function used(LoggerInterface $logger): int
    {
        $semaphore = new Semaphore(new Key('used', 2), new InMemoryStore(), ttlInSecond: 10.0, autoRelease: true);
        $semaphore->setLogger($logger);
        $semaphore->keepAlive(maxHold: 60.0)->onLost(function (Semaphore $lost, string $reason): void {
            $this->losses[] = $reason . ($lost->isHeld() ? ', held' : '');
        });
        if (!$semaphore->acquire(true, timeout: 1.0) || !$semaphore->isHeld() || !$semaphore->isAcquired()) {
            return 0;
        }
        $semaphore->refresh(20.0);
        if ($semaphore->available() !== 1) {
            return 0;
        }
        if ($semaphore->isExpired() || ($semaphore->getRemainingLifetime() ?? 0.0) > 20.0) {
            return 0;
        }
        $semaphore->overtaking(false)->overtaking()->release();
        if (Semaphore::getStatistics()['lost'] > 0) {
            return 0;
        }

        return $semaphore->synchronized(fn (): int => 2 + \count($this->losses), 1.0);
    }

    public function any(SemaphoreInterface $semaphore): bool
    {
        if (!$semaphore->acquire() || !$semaphore->isAcquired()) {
            return false;
        }
        $semaphore->refresh();
        $left = $semaphore->isExpired() ? 0.0 : $semaphore->getRemainingLifetime();
        $semaphore->release();

        return $left !== 0.0;
    }

    public function redis(#[\SensitiveParameter] string $dsn, Key $key): bool
    {
        $store = new RedisStore($dsn);
        $store->save($key, 10.0);
        $store->putOffExpiration($key, 20.0);
        $held = $store->exists($key) && $store->inspect($key)['waiters'] === 0;
        $held = $held && \count($store->listHeld(foreign: true)) > 0 && $store->listHeld()[0]['used'] > 0;
        $store->delete($key);

        return $held;
    }

    public function memory(Key $key): bool
    {
        $store = new InMemoryStore();
        $store->save($key, 10.0);
        $store->putOffExpiration($key, 20.0);
        $held = $store->exists($key) && $this->weights($store->inspect($key)['holders']) === [$key->getWeight()];
        $store->delete($key);

        return $held && $this->inStore($store, $key);
    }

    public function kernel(Key $key): bool
    {
        $store = new SemaphoreStore('shop', digest: 'xxh128');
        $store->save($key, 10.0);
        $store->putOffExpiration($key, 20.0);
        $found = $store->inspect($key);
        $held = $store->exists($key) && $found['used'] >= $key->getWeight() && $found['holders'] === [];
        $store->delete($key);

        return $held;
    }

    public function slots(Key $key): bool
    {
        $store = new LockStore(new LockFactory(new FlockStore()));
        $store->save($key, 10.0);
        $store->putOffExpiration($key, 20.0);
        $held = $store->exists($key) && $store->inspect($key)['used'] >= $key->getWeight();
        $store->delete($key);

        return $held && $this->inStore($store, $key);
    }

    /**
     * @param list<array{pid: int, weight: int, limit: int|null}> $holders
     *
     * @return list<int>
     */
    private function weights(array $holders): array
    {
        return array_column($holders, 'weight');
    }

    private function inStore(PersistingStoreInterface $store, Key $key): bool
    {
        $store->save($key, 10.0);
        $store->putOffExpiration($key, 20.0);
        $held = $store->exists($key);
        $store->delete($key);

        return $held;
    }

    public function handedOver(Key $key): Key
    {
        $key->resetLifetime();
        $key->reduceLifetime(60.0);
        $key->setState('note', 'here');
        $key->removeState('draft');
        $copy = unserialize(serialize($key), ['allowed_classes' => [Key::class]]);
        if (!$copy instanceof Key || $copy->isExpired() || ($copy->getRemainingLifetime() ?? 0.0) > 60.0) {
            throw new \LogicException('no key, or one that lasts too long');
        }
        if (!$copy->hasState('note') || $copy->getState('note') !== 'here' || $copy->getWeight() > $copy->getLimit()) {
            throw new \LogicException('not a key of ours');
        }

        return $copy;
    }

    public function stayHere(Key $key): Key
    {
        $key->markUnserializable(self::class);

        return $key;
    }

    /** @param callable(): mixed $call */
    public function failure(callable $call): string
    {
        try {
            $call();
        } catch (InvalidArgumentException) {
            return 'argument';
        } catch (SemaphoreAcquiringException) {
            return 'too many';
        } catch (SemaphoreExpiredException $lost) {
            return $lost->getResult() === null ? 'lost' : 'done, but lost';
        } catch (SemaphoreReleasingException) {
            return 'stuck';
        } catch (SemaphoreStorageException) {
            return 'away';
        } catch (UnserializableKeyException) {
            return 'local';
        } catch (RuntimeException $failure) {
            return $failure->getPrevious() instanceof ExceptionInterface ? 'failed' : 'broken';
        }

        return 'nothing';
    }

    /** @return list<ExceptionInterface> what a store of one's own throws */
    public function exceptions(Key $key): array
    {
        return [
            new SemaphoreAcquiringException($key, 'there are too many'),
            new SemaphoreExpiredException($key, 'it is gone'),
            new SemaphoreReleasingException($key, 'it is stuck', new \RuntimeException('before')),
        ];
    }
}
