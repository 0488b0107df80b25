<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Latch\Symfony\LatchBundle;
use Latch\Symfony\Tests\Message\Locked;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Bundle\TwigBundle\TwigBundle;
use Symfony\Bundle\WebProfilerBundle\WebProfilerBundle;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

/**
 * An application with the profiler, whose pages use locks.
 */
final class ProfiledKernel extends Kernel
{
    use MicroKernelTrait;

    /**
     * @param array<string, string> $stores    "default" and "local"
     * @param string|null           $framework DSN of framework.lock; null: that of "default"
     */
    public function __construct(private readonly string $directory, private readonly array $stores, private readonly ?string $framework = null)
    {
        parent::__construct('dev', true);
    }

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new TwigBundle();
        yield new WebProfilerBundle();
        yield new LatchBundle();
    }

    public function getProjectDir(): string
    {
        return $this->directory;
    }

    public function getCacheDir(): string
    {
        return "$this->directory/cache";
    }

    public function getLogDir(): string
    {
        return "$this->directory/log";
    }

    private function configureContainer(ContainerConfigurator $configurator, mixed $loader, ContainerBuilder $container): void
    {
        $container->loadFromExtension('framework', [
            'secret' => 'a secret',
            'http_method_override' => false,
            'handle_all_throwables' => true,
            'php_errors' => ['log' => true],
            'lock' => $this->framework ?? $this->stores['default'],
            'profiler' => ['enabled' => true],
            'router' => ['utf8' => true],
            'messenger' => ['transports' => ['a' => 'in-memory://'], 'routing' => []],
        ]);
        $container->loadFromExtension('web_profiler', ['toolbar' => true]);
        $container->loadFromExtension('latch', ['stores' => $this->stores, 'messenger' => ['sync_store' => 'local']]);
        $container->register('logger', Log::class)->setPublic(true);
        $container->register(Handler::class)->setPublic(true)->addTag('messenger.message_handler', ['handles' => Locked::class]);
        $container->register(LockPages::class)->setAutowired(true)->addTag('controller.service_arguments')->setPublic(true);
    }

    private function configureRoutes(RoutingConfigurator $routes): void
    {
        $format = is_file(\dirname((string) (new \ReflectionClass(WebProfilerBundle::class))->getFileName()) . '/Resources/config/routing/wdt.php') ? 'php' : 'xml';
        $routes->import("@WebProfilerBundle/Resources/config/routing/wdt.$format")->prefix('/_wdt');
        $routes->import("@WebProfilerBundle/Resources/config/routing/profiler.$format")->prefix('/_profiler');
        $routes->add('page', '/{action}')->controller(LockPages::class);
    }
}
