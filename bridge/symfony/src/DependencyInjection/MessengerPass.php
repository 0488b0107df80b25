<?php

declare(strict_types=1);

namespace Latch\Symfony\DependencyInjection;

use Symfony\Component\Config\Definition\Exception\InvalidConfigurationException;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;

/**
 * Puts the middlewares into the buses, where there are any.
 */
final class MessengerPass implements CompilerPassInterface
{
    private const PARAMETER = '.latch.messenger';

    private const RETRY_LISTENER = 'messenger.retry.send_failed_message_for_retry_listener';

    /** Symfony's own middlewares that are outside of the application's. */
    private const OUTER = [
        'traceable',
        'add_default_stamps_middleware',
        'add_bus_name_stamp_middleware',
        'reject_redelivered_message_middleware',
        'dispatch_after_current_bus',
        'decode_failed_message_middleware',
        'failed_message_processing_middleware',
        'deduplicate_middleware',
    ];

    private const INNER = ['send_message', 'handle_message'];

    /**
     * @param array<string, mixed> $config of latch.messenger
     * @param list<int|string>     $stores names
     */
    public static function configure(array $config, array $stores, ContainerBuilder $container): void
    {
        if ($config['enabled'] !== true) {
            return;
        }
        $config['sync_store'] ??= $config['store'];
        foreach (['store', 'sync_store'] as $option) {
            if (!\in_array($config[$option], $stores, true)) {
                throw new InvalidConfigurationException(\sprintf(
                    'latch.messenger.%s: there is no store "%s" under latch.stores; there is "%s".',
                    $option,
                    $config[$option],
                    implode('", "', $stores),
                ));
            }
        }
        $container->setParameter(self::PARAMETER, [...$config, 'stores' => $stores]);
    }

    public function process(ContainerBuilder $container): void
    {
        if (!$container->hasParameter(self::PARAMETER)) {
            return;
        }
        /** @var array<string, mixed> $config */
        $config = $container->getParameter(self::PARAMETER);
        $container->getParameterBag()->remove(self::PARAMETER);
        $known = array_keys($container->findTaggedServiceIds('messenger.bus'));
        $buses = $config['buses'] === [] ? $known : $config['buses'];
        foreach (array_diff($buses, $known) as $bus) {
            throw new InvalidConfigurationException(\sprintf(
                'latch.messenger.buses: there is no bus "%s"; there is "%s".',
                $bus,
                implode('", "', $known),
            ));
        }
        if ($buses === [] || !$container->hasDefinition(self::RETRY_LISTENER)) {
            return;
        }
        try {
            MessengerServices::register($config, $container->getDefinition(self::RETRY_LISTENER)->getArgument(0), $container);
        } catch (\InvalidArgumentException $e) {
            throw new InvalidConfigurationException("latch.messenger.rules: {$e->getMessage()}", 0, $e);
        }
        foreach ($buses as $bus) {
            if ($container->hasParameter("$bus.middleware")) {
                /** @var list<array{id: string}> $middlewares */
                $middlewares = $container->getParameter("$bus.middleware");
                $container->setParameter("$bus.middleware", self::place($middlewares));
            }
        }
    }

    /**
     * @internal
     *
     * @param list<array{id: string}> $middlewares
     *
     * @return list<array{id: string}>
     */
    public static function place(array $middlewares): array
    {
        $ids = array_column($middlewares, 'id');
        if (!\in_array(MessengerServices::HELD_MIDDLEWARE, $ids, true)) {
            $inner = array_keys(array_intersect($ids, self::INNER))[0] ?? \count($ids);
            array_splice($middlewares, $inner, 0, [['id' => MessengerServices::HELD_MIDDLEWARE]]);
        }
        if (!\in_array(MessengerServices::MIDDLEWARE, $ids, true)) {
            $outer = array_keys(array_intersect($ids, self::OUTER));
            array_splice($middlewares, ($outer === [] ? -1 : max($outer)) + 1, 0, [['id' => MessengerServices::MIDDLEWARE]]);
        }

        return $middlewares;
    }
}
