<?php

declare(strict_types=1);

namespace Latch\Symfony\DependencyInjection;

use Latch\Symfony\Command\DebugCommand;
use Latch\Symfony\Command\LocksCommand;
use Latch\Symfony\Command\ReleaseCommand;
use Latch\Symfony\Command\StoreInspector;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\Symfony\Messenger\Rule\RuleReader;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\DependencyInjection\Argument\IteratorArgument;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\Compiler\ServiceLocatorTagPass;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Reference;

/**
 * Commands of the console. As a pass, after MessengerPass, it sees the buses and their messages.
 */
final class Commands implements CompilerPassInterface
{
    /**
     * @param list<string>         $stores    names
     * @param array<string, mixed> $messenger configuration
     */
    public static function register(array $stores, array $messenger, ContainerBuilder $container): void
    {
        if (!class_exists(Command::class)) {
            return;
        }
        $locks = $permits = [];
        foreach ($stores as $store) {
            $locks[$store] = new Reference("latch.store.$store");
            $permits[$store] = new Reference("latch.semaphore_store.$store");
        }
        $container->setDefinition(StoreInspector::class, new Definition(StoreInspector::class, [
            ServiceLocatorTagPass::register($container, $locks),
            ServiceLocatorTagPass::register($container, $permits),
        ]));
        $inspector = new Reference(StoreInspector::class);
        $logger = new Reference('logger', ContainerInterface::NULL_ON_INVALID_REFERENCE);
        $release = [$inspector, \in_array('default', $stores, true) ? 'default' : $stores[0] ?? 'default', $logger];
        $uses = [];
        if ($messenger['enabled'] === true) {
            $uses[$messenger['store']][] = 'locks while messages are handled';
            $uses[$messenger['sync_store'] ?? $messenger['store']][] = 'what travels with messages';
        }
        foreach ([LocksCommand::class => [$inspector], ReleaseCommand::class => $release, DebugCommand::class => [$inspector, $uses]] as $class => $arguments) {
            $container->setDefinition($class, new Definition($class, $arguments))
                ->addTag('console.command')
                ->addTag('monolog.logger', ['channel' => 'latch']);
        }
    }

    public function process(ContainerBuilder $container): void
    {
        if (!$container->hasDefinition(DebugCommand::class) || !$container->hasDefinition(RuleReader::class)) {
            return;
        }
        $messages = array_keys(self::map($container, 'messenger.senders_locator', 0));
        $buses = [];
        foreach (array_keys($container->findTaggedServiceIds('messenger.bus')) as $bus) {
            $messages = [...$messages, ...array_keys(self::map($container, "$bus.messenger.handlers_locator", 0))];
            $buses[$bus] = self::middlewares($container, $bus);
        }
        $messages = array_values(array_filter(array_unique($messages), static fn (string $name): bool => class_exists($name) || interface_exists($name)));
        sort($messages);
        $container->getDefinition(DebugCommand::class)
            ->addArgument(new Reference(RuleReader::class))
            ->addArgument(new Reference(KeyTemplate::class))
            ->addArgument(new Reference('messenger.senders_locator'))
            ->addArgument($messages)
            ->addArgument($buses);
    }

    /**
     * @return array<string, mixed>
     */
    private static function map(ContainerBuilder $container, string $id, int $argument): array
    {
        $map = $container->hasDefinition($id) ? $container->getDefinition($id)->getArguments()[$argument] ?? [] : [];

        return \is_array($map) ? $map : [];
    }

    /**
     * @return list<string> the outermost first
     */
    private static function middlewares(ContainerBuilder $container, string $bus): array
    {
        $middlewares = $container->getDefinition($bus)->getArguments()[0] ?? null;
        $names = [];
        foreach ($middlewares instanceof IteratorArgument ? $middlewares->getValues() : [] as $middleware) {
            $names[] = (string) preg_replace('/^(' . preg_quote($bus, '/') . '\.middleware|messenger\.middleware)\./', '', (string) $middleware);
        }

        return $names;
    }
}
