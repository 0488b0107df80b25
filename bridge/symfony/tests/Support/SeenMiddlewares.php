<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Symfony\Component\DependencyInjection\Argument\IteratorArgument;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;

/**
 * Looks what middlewares the buses have got.
 */
final class SeenMiddlewares implements CompilerPassInterface
{
    /**
     * @param array<string, list<string>> $buses
     */
    public function __construct(private array &$buses)
    {
    }

    public function process(ContainerBuilder $container): void
    {
        foreach (array_keys($container->findTaggedServiceIds('messenger.bus')) as $bus) {
            $middlewares = $container->getDefinition($bus)->getArgument(0);
            \assert($middlewares instanceof IteratorArgument);
            $this->buses[$bus] = array_map(strval(...), $middlewares->getValues());
        }
    }
}
