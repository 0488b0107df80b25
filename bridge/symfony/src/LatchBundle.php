<?php

declare(strict_types=1);

namespace Latch\Symfony;

use Latch\Symfony\DependencyInjection\Commands;
use Latch\Symfony\DependencyInjection\Configuration;
use Latch\Symfony\DependencyInjection\MessengerPass;
use Latch\Symfony\DependencyInjection\ProfilerPass;
use Latch\Symfony\DependencyInjection\Stores;
use Symfony\Component\Config\Definition\Configurator\DefinitionConfigurator;
use Symfony\Component\DependencyInjection\Compiler\PassConfig;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Bundle\AbstractBundle;

final class LatchBundle extends AbstractBundle
{
    public function configure(DefinitionConfigurator $definition): void
    {
        Configuration::describe($definition->rootNode());
    }

    /**
     * @param array<mixed> $config
     */
    public function loadExtension(array $config, ContainerConfigurator $container, ContainerBuilder $builder): void
    {
        Stores::register($config['stores'], $builder);
        Commands::register(array_map(strval(...), array_keys($config['stores'])), $config['messenger'], $builder);
        MessengerPass::configure($config['messenger'], array_keys($config['stores']), $builder);
    }

    public function build(ContainerBuilder $container): void
    {
        // Before FrameworkBundle's MessengerPass, which makes the buses of the lists of middlewares.
        $container->addCompilerPass(new MessengerPass(), PassConfig::TYPE_BEFORE_OPTIMIZATION, 10);
        $container->addCompilerPass(new ProfilerPass(), PassConfig::TYPE_BEFORE_OPTIMIZATION, 10);
        // After FrameworkBundle's.
        $container->addCompilerPass(new Commands(), PassConfig::TYPE_BEFORE_OPTIMIZATION, -10);
    }
}
