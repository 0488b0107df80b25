<?php

declare(strict_types=1);

namespace Latch\Symfony\DependencyInjection;

use Latch\Symfony\Profiler\LatchDataCollector;
use Latch\Symfony\Profiler\LockTrace;
use Latch\Symfony\Profiler\TraceListener;
use Latch\Symfony\Profiler\TraceLogger;
use Symfony\Component\DependencyInjection\ChildDefinition;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Reference;

/**
 * Where there is a profiler, its panel, and loggers that tell it of the locks: those of latch.stores and of framework.lock.
 */
final class ProfilerPass implements CompilerPassInterface
{
    private const FACTORIES = '/^latch\.(lock|semaphore)_factory\.(.+)$/D';

    private const SYMFONYS = ['lock.factory.abstract' => 'lock', 'semaphore.factory.abstract' => 'semaphore'];

    public function process(ContainerBuilder $container): void
    {
        if (!$container->hasDefinition('profiler')) {
            return;
        }
        $trace = new Reference(LockTrace::class);
        $container->setDefinition(LockTrace::class, new Definition(LockTrace::class))->addTag('kernel.reset', ['method' => 'reset']);
        $container->setDefinition(TraceListener::class, new Definition(TraceListener::class, [$trace]))->addTag('kernel.event_subscriber');
        $container->setDefinition(LatchDataCollector::class, new Definition(LatchDataCollector::class, [$trace]))
            ->addTag('data_collector', ['id' => 'latch', 'template' => '@Latch/collector.html.twig', 'priority' => 240]);
        foreach ($container->getDefinitions() as $id => $factory) {
            if (preg_match(self::FACTORIES, $id, $match) === 1) {
                self::trace($container, $id, $factory, $match[1], $match[2], 'latch');
            } elseif ($factory instanceof ChildDefinition && isset(self::SYMFONYS[$factory->getParent()])) {
                $kind = self::SYMFONYS[$factory->getParent()];
                self::trace($container, $id, $factory, $kind, (string) preg_replace('/^\w+\.(.+)\.factory$/D', 'framework: $1', $id), $kind);
            }
        }
    }

    private static function trace(
        ContainerBuilder $container,
        string $id,
        Definition $factory,
        string $kind,
        string $name,
        string $channel,
    ): void {
        $store = $factory->getArguments()[0] ?? $factory->getArguments()['index_0'] ?? null;
        $container->setDefinition("$id.trace", new Definition(TraceLogger::class, [
            new Reference(LockTrace::class),
            $kind,
            $name,
            $store instanceof Reference ? $store : null,
            new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE),
        ]))->addTag('monolog.logger', ['channel' => $channel]);
        // The one that is called last counts.
        $factory->addMethodCall('setLogger', [new Reference("$id.trace")]);
    }
}
