<?php

declare(strict_types=1);

namespace Latch\Symfony\Command;

use Latch\Key;
use Latch\PersistingStoreInterface;
use Latch\Semaphore\Exception\ExceptionInterface as SemaphoreException;
use Latch\Semaphore\Key as SemaphoreKey;
use Symfony\Component\Console\Exception\InvalidArgumentException;
use Symfony\Contracts\Service\ServiceProviderInterface;

/**
 * What the configured stores tell of their locks and semaphores.
 *
 * @internal
 *
 * @phpstan-type Holder array{pid?: int|null, session?: int, host?: string|null, script?: string|null, since?: float|null, remaining?: float|null, fencingToken?: int|null, id?: string, weight?: int, limit?: int|null}
 * @phpstan-type Found array{name: string, mode: string|null, holders: list<Holder>, holderCount?: int, waiters?: int, used?: int}
 */
final class StoreInspector
{
    /**
     * @param ServiceProviderInterface<object> $stores          by name
     * @param ServiceProviderInterface<object> $semaphoreStores by name; not every store has one
     */
    public function __construct(
        private readonly ServiceProviderInterface $stores,
        private readonly ServiceProviderInterface $semaphoreStores,
    ) {
    }

    /**
     * @return list<string>
     */
    public function names(): array
    {
        return array_map(strval(...), array_keys($this->stores->getProvidedServices()));
    }

    public function store(string $name): PersistingStoreInterface
    {
        if (!$this->stores->has($name)) {
            throw new InvalidArgumentException(\sprintf(
                'There is no store "%s" under latch.stores; there is "%s".',
                $name,
                implode('", "', $this->names()),
            ));
        }
        $store = $this->stores->get($name);
        \assert($store instanceof PersistingStoreInterface);

        return $store;
    }

    /**
     * @return list<Found>|null the lock, and the semaphore, of that name, if they are held; null: the store cannot tell
     */
    public function find(string $name, string $resource): ?array
    {
        $store = $this->store($name);
        if (!method_exists($store, 'inspect')) {
            return null;
        }
        /** @var Found $lock */
        $lock = $store->inspect(new Key($resource));
        $found = $lock['mode'] === null ? [] : [['name' => $resource] + $lock];
        try {
            $semaphores = $this->semaphoreStores->get($name);
            /** @var Found $permits */
            $permits = ['mode' => 'semaphore'] + (method_exists($semaphores, 'inspect') ? $semaphores->inspect(new SemaphoreKey($resource, 1)) : []);
        } catch (SemaphoreException) {
            return $found;
        }

        return ($permits['used'] ?? 0) > 0 ? [...$found, $permits] : $found;
    }

    /**
     * @param bool $all in Redis: also those without any holder on Latch
     *
     * @return list<Found>|null by name; null: the store cannot list
     */
    public function list(string $name, bool $all): ?array
    {
        $store = $this->store($name);
        if (!method_exists($store, 'listHeld')) {
            return null;
        }
        /** @var list<Found> $held */
        $held = self::heldIn($store, $all);
        try {
            $semaphores = $this->semaphoreStores->get($name);
            foreach (method_exists($semaphores, 'listHeld') ? self::heldIn($semaphores, $all) : [] as $found) {
                $held[] = ['mode' => 'semaphore'] + $found;
            }
        } catch (SemaphoreException) {
            // This user of the server may see the locks, and not the semaphores.
        }
        /** @var list<Found> $held */
        usort($held, static fn (array $one, array $other): int => $one['name'] <=> $other['name']);

        return $held;
    }

    /**
     * @param object $store with listHeld(), which has an argument only where there are others to list
     *
     * @return list<Found>
     */
    private static function heldIn(object $store, bool $all): array
    {
        $list = new \ReflectionMethod($store, 'listHeld');
        /** @var list<Found> $held */
        $held = $list->invoke($store, ...($all && $list->getNumberOfParameters() > 0 ? [true] : []));

        return $held;
    }
}
