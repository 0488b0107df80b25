<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Latch\Symfony\LatchBundle;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\Filesystem\Filesystem;
use Symfony\Component\HttpKernel\Kernel;

/**
 * An application that is nothing but its configuration.
 */
final class TestKernel extends Kernel implements CompilerPassInterface
{
    private const PUBLIC = '/^(latch\.|Latch.Symfony|\w+\.bus$|messenger\.transport\.[a-z]$|messenger\.receiver_locator$|lock\.\w+\.factory$|event_dispatcher$)/';

    private static ?string $root = null;

    private readonly string $directory;

    /**
     * @param array<string, mixed>           $latch     configuration under "latch"; absent: null
     * @param array<string, mixed>           $framework configuration under "framework"
     * @param (\Closure(ContainerBuilder): void)|null $services
     * @param bool                           $shared    all with the same configuration have the same services
     */
    public function __construct(
        private readonly array|string|null $latch = null,
        private readonly array $framework = [],
        private readonly ?\Closure $services = null,
        bool $debug = false,
        bool $shared = false,
    ) {
        // Kernels of one configuration share a compiled container.
        $configuration = $services === null || !$shared ? random_bytes(8) : serialize([$latch, $framework, $debug]);
        $this->directory = self::directory() . '/' . hash('xxh128', $configuration);
        parent::__construct('test', $debug);
    }

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new LatchBundle();
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', [
                'secret' => 'a secret',
                'test' => true,
                'http_method_override' => false,
                'handle_all_throwables' => true,
                'php_errors' => ['log' => true],
                ...$this->framework,
            ]);
            if ($this->latch !== null) {
                $container->loadFromExtension('latch', \is_string($this->latch) ? ['stores' => $this->latch] : $this->latch);
            }
            $container->register('logger', Log::class)->setPublic(true);
            if ($this->services !== null) {
                ($this->services)($container);
            }
        });
    }

    public function process(ContainerBuilder $container): void
    {
        foreach ([...$container->getDefinitions(), ...$container->getAliases()] as $id => $service) {
            if (preg_match(self::PUBLIC, (string) $id)) {
                $service->setPublic(true);
            }
        }
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

    private static function directory(): string
    {
        if (self::$root === null) {
            $root = self::$root = sys_get_temp_dir() . '/latch-bundle-' . bin2hex(random_bytes(6));
            register_shutdown_function(static fn () => (new Filesystem())->remove($root));
        }

        return self::$root;
    }
}
