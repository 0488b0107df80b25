<?php

declare(strict_types=1);

namespace Latch\Symfony\DependencyInjection;

use Latch\Symfony\Command\SweepCommand;
use Latch\Symfony\Messenger\EventListener\LifeListener;
use Latch\Symfony\Messenger\EventListener\MetricsListener;
use Latch\Symfony\Messenger\EventListener\RequeueListener;
use Latch\Symfony\Messenger\EventListener\StopListener;
use Latch\Symfony\Messenger\EventListener\SweepListener;
use Latch\Symfony\Messenger\Flow\Backoff;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\Flow\Payloads;
use Latch\Symfony\Messenger\Flow\Recorder;
use Latch\Symfony\Messenger\Flow\Waits;
use Latch\Symfony\Messenger\Flow\Watchlist;
use Latch\Symfony\Messenger\Guard\AfterGuard;
use Latch\Symfony\Messenger\Guard\BoundGuard;
use Latch\Symfony\Messenger\Guard\ChainGuard;
use Latch\Symfony\Messenger\Guard\DebounceGuard;
use Latch\Symfony\Messenger\Guard\Ending;
use Latch\Symfony\Messenger\Guard\LimitGuard;
use Latch\Symfony\Messenger\Guard\LockGuard;
use Latch\Symfony\Messenger\Guard\OnceGuard;
use Latch\Symfony\Messenger\Guard\OrderGuard;
use Latch\Symfony\Messenger\Guard\PartGuard;
use Latch\Symfony\Messenger\Guard\StoreErrors;
use Latch\Symfony\Messenger\Guard\Sweeper;
use Latch\Symfony\Messenger\Guard\ThrottleGuard;
use Latch\Symfony\Messenger\Guard\VersionGuard;
use Latch\Symfony\Messenger\HandlerLocks;
use Latch\Symfony\Messenger\Middleware\HeldMiddleware;
use Latch\Symfony\Messenger\Middleware\LatchMiddleware;
use Latch\Symfony\Messenger\Plan;
use Latch\Symfony\Messenger\Rule\Configured;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\Symfony\Messenger\Rule\RuleReader;
use OpenTelemetry\API\Globals;
use OpenTelemetry\API\Metrics\MeterProviderInterface;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\DependencyInjection\Argument\ServiceClosureArgument;
use Symfony\Component\DependencyInjection\Compiler\ServiceLocatorTagPass;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Reference;

/**
 * Services behind the rules of messages.
 */
final class MessengerServices
{
    public const MIDDLEWARE = 'latch.messenger.middleware';

    public const HELD_MIDDLEWARE = 'latch.messenger.held_middleware';

    /**
     * @param array<string, mixed> $config     of latch.messenger, and the names of the stores
     * @param Reference            $transports senders, by the names of the transports
     */
    public static function register(array $config, Reference $transports, ContainerBuilder $container): void
    {
        $logger = new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE);
        $factories = [];
        foreach ($config['stores'] as $store) {
            $factories[$store] = new Reference("latch.lock_factory.$store");
        }
        $syncStore = $config['sync_store'];
        $sync = new ServiceClosureArgument(new Reference("latch.sync_factory.$syncStore"));
        $permits = new ServiceClosureArgument(new Reference("latch.semaphore_factory.$syncStore"));
        $syncLocks = new ServiceClosureArgument(new Reference("latch.lock_factory.$syncStore"));
        $requeue = $config['requeue'];

        $handlerLocks = self::service($container, HandlerLocks::class);
        $rules = self::service($container, RuleReader::class, Configured::read($config['rules']));
        $templates = self::service($container, KeyTemplate::class);
        $dispatcher = new Reference('event_dispatcher');
        $recorder = self::service($container, Recorder::class, $dispatcher, $logger);
        $waits = self::service($container, Waits::class);
        $errors = self::service($container, StoreErrors::class, $requeue['on_store_error'] === 'requeue', $requeue['delay']);
        $backoff = self::service($container, Backoff::class, $requeue['delay'], $requeue['max_delay']);
        $locators = ServiceLocatorTagPass::register($container, $factories);
        $holds = self::service($container, Holds::class, $locators, $permits, $waits, $config['ttl'], $config['max_hold'], $recorder);
        $payloads = self::service(
            $container,
            Payloads::class,
            new Reference('messenger.default_serializer'),
            $config['secret'] ?? ($container->hasParameter('kernel.secret') ? '%kernel.secret%' : ''),
        );
        $bus = new ServiceClosureArgument(new Reference('messenger.routable_message_bus'));
        $watchlist = self::service($container, Watchlist::class, $sync);
        $parts = self::service($container, PartGuard::class, $sync, $payloads, $bus, $watchlist);
        $order = self::service(
            $container,
            OrderGuard::class,
            $sync,
            $syncLocks,
            $templates,
            $errors,
            $payloads,
            $holds,
            $transports,
            $syncStore,
            $watchlist,
            $logger,
        );
        $after = self::service($container, AfterGuard::class, $sync, $errors, $holds, $syncStore, $config['ttl']);
        $once = self::service($container, OnceGuard::class, $syncLocks, $templates, $errors, $config['ttl']);
        $debounce = self::service($container, DebounceGuard::class, $sync, $templates, $errors);
        $bound = self::service($container, BoundGuard::class, $permits, $templates);
        $version = self::service($container, VersionGuard::class, $sync, $templates, $errors);
        $chain = self::service($container, ChainGuard::class, $payloads, $bus, $once);
        $lock = self::service($container, LockGuard::class, $holds, $templates, $errors, $config['store']);
        $limit = self::service($container, LimitGuard::class, $holds, $templates, $errors);
        $throttle = self::service($container, ThrottleGuard::class, $sync, $templates, $errors, $waits);
        $guards = [$parts, $after, $order, $once, $debounce, $bound, $lock, $limit, $version, $throttle, $chain];
        // Parts are sent when nothing can skip the message that comes after them any more.
        $dispatching = [$lock, $limit, $throttle, $after, $version, $once, $parts, $order, $debounce, $bound, $chain];
        $sweeper = self::service(
            $container,
            Sweeper::class,
            $watchlist,
            [OrderGuard::WATCHED => $order, PartGuard::WATCHED => $parts],
            $logger,
        );
        $ending = self::service($container, Ending::class, $guards, $logger);

        $container->setDefinition(self::MIDDLEWARE, self::logging(new Definition(LatchMiddleware::class, [
            $guards, $dispatching, $rules, $holds, $handlerLocks, new Reference('messenger.senders_locator'), $transports, $ending, $recorder, $logger,
        ])));
        $container->setDefinition(self::HELD_MIDDLEWARE, new Definition(HeldMiddleware::class, [$holds, $handlerLocks]));

        $plan = new Definition(Plan::class, [new Reference('messenger.default_bus')]);
        $container->setDefinition(Plan::class, $plan->addTag('kernel.reset', ['method' => 'reset']));
        $container->setDefinition(LifeListener::class, self::subscribing(new Definition(LifeListener::class, [$ending])));
        $container->setDefinition(StopListener::class, self::subscribing(new Definition(StopListener::class, [$waits])));
        $container->setDefinition(SweepListener::class, self::subscribing(new Definition(SweepListener::class, [$sweeper, $logger])));
        if (class_exists(Command::class)) {
            $container->setDefinition(SweepCommand::class, (new Definition(SweepCommand::class, [$sweeper]))->addTag('console.command'));
        }
        if (class_exists(Globals::class)) {
            $meters = (new Definition(MeterProviderInterface::class))->setFactory([Globals::class, 'meterProvider']);
            $container->setDefinition(MetricsListener::class, self::subscribing(new Definition(MetricsListener::class, [$meters])));
        }
        $decorated = 'messenger.retry.send_failed_message_for_retry_listener';
        $container->setDefinition(RequeueListener::class, self::logging(new Definition(RequeueListener::class, [
            new Reference('.inner'), $transports, $backoff, $requeue['give_up_after'], $recorder, $dispatcher, $logger,
        ]))->setDecoratedService($decorated));
    }

    private static function service(ContainerBuilder $container, string $class, mixed ...$arguments): Reference
    {
        $container->setDefinition($class, self::logging(new Definition($class, array_values($arguments))));

        return new Reference($class);
    }

    private static function logging(Definition $definition): Definition
    {
        return $definition->addTag('monolog.logger', ['channel' => 'latch']);
    }

    private static function subscribing(Definition $definition): Definition
    {
        return self::logging($definition)->addTag('kernel.event_subscriber');
    }
}
