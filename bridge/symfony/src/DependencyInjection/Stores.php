<?php

declare(strict_types=1);

namespace Latch\Symfony\DependencyInjection;

use Latch\LockFactory;
use Latch\PersistingStoreInterface;
use Latch\Semaphore\PersistingStoreInterface as SemaphoreStore;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\Store\StoreFactory as SemaphoreStoreFactory;
use Latch\Store\StoreFactory;
use Latch\SyncFactory;
use Symfony\Component\Config\Definition\Exception\InvalidConfigurationException;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Reference;

/**
 * Services of each configured store: the store, and the factories of locks, semaphores and of what SyncFactory makes.
 */
final class Stores
{
    /**
     * @param array<string, string> $stores DSNs, or ids of services, by name
     */
    public static function register(array $stores, ContainerBuilder $container): void
    {
        foreach ($stores as $name => $dsn) {
            $connection = self::connection($name, $dsn, $container);
            $container->setDefinition("latch.store.$name", self::made(PersistingStoreInterface::class, StoreFactory::class, $connection));
            $container->setDefinition(
                "latch.semaphore_store.$name",
                self::made(SemaphoreStore::class, SemaphoreStoreFactory::class, $connection),
            );
            self::factory($container, LockFactory::class, 'lock_factory', 'store', $name);
            self::factory($container, SyncFactory::class, 'sync_factory', 'store', $name);
            self::factory($container, SemaphoreFactory::class, 'semaphore_factory', 'semaphore_store', $name);
        }
    }

    private static function connection(string $name, string $dsn, ContainerBuilder $container): string|Reference
    {
        $variables = [];
        $container->resolveEnvPlaceholders($dsn, null, $variables);
        if ($variables !== [] || StoreFactory::describe($dsn) !== []) {
            return $dsn;
        }
        if (!str_contains($dsn, ':')) {
            return new Reference($dsn);
        }
        $forms = array_merge(...array_column(StoreFactory::describe(), 'dsns'));
        throw new InvalidConfigurationException(\sprintf(
            'latch.stores.%s: there is no store for a DSN that begins with "%s:"; known are %s.',
            $name,
            strstr($dsn, ':', true),
            implode(', ', $forms),
        ));
    }

    /**
     * @param class-string $class
     * @param class-string $factory
     */
    private static function made(string $class, string $factory, string|Reference $connection): Definition
    {
        return (new Definition($class))->setFactory([$factory, 'createStore'])->setArguments([$connection]);
    }

    /**
     * @param class-string $class
     */
    private static function factory(ContainerBuilder $container, string $class, string $kind, string $store, string $name): void
    {
        $id = "latch.$kind.$name";
        $definition = new Definition($class, [new Reference("latch.$store.$name")]);
        if (method_exists($class, 'setLogger')) {
            $definition
                ->addMethodCall('setLogger', [new Reference('logger', ContainerInterface::IGNORE_ON_INVALID_REFERENCE)])
                ->addTag('monolog.logger', ['channel' => 'latch']);
        }
        $container->setDefinition($id, $definition);
        $container->registerAliasForArgument($id, $class, $name);
        $container->registerAliasForArgument($id, $class, "$name.$kind");
        if ($name === 'default') {
            $container->setAlias($class, $id);
        }
    }
}
