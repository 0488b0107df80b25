<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests;

use Latch\LockFactory;
use Latch\Symfony\Messenger\HandlerLocks;
use Latch\Symfony\Messenger\Plan;
use Latch\Symfony\Tests\Message\Plain;
use Latch\Symfony\Tests\Support\App;
use Latch\Symfony\Tests\Support\Page;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\MessageBusInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/**
 * The examples of the README and of docs/ are run: their messages are dispatched and handled by a worker, their functions
 * and handlers called.
 */
final class ExamplesTest extends TestCase
{
    /** Classes that are not installed with the tests: listeners that use them are only loaded. */
    private const FOREIGN = '/^use Prometheus\\\\/m';

    /**
     * @return iterable<string, array{Page}>
     */
    public static function pages(): iterable
    {
        foreach (Page::all() as $page) {
            if ($page->blocks('php') !== []) {
                yield $page->name => [$page];
            }
        }
    }

    #[DataProvider('pages')]
    public function testTheExamplesOfAPageWork(Page $page): void
    {
        [$namespace, $classes, $functions] = $this->declared($page);
        $handlers = array_filter($classes, static fn (string $class): bool => method_exists($class, '__invoke'));
        $messages = preg_match(self::FOREIGN, $page->text()) === 1 ? [] : array_values(array_diff($classes, $handlers));
        $app = new App(array_fill_keys([...$messages, Plain::class], 'a'));
        foreach ($handlers as $class) {
            $handler = new $class($app->locks(), $app->get(HandlerLocks::class));
            $message = (new \ReflectionMethod($class, '__invoke'))->getParameters()[0]->getType();
            self::assertInstanceOf(\ReflectionNamedType::class, $message);
            $app->handler->does[$message->getName()] = static fn (object $message) => $handler($message);
        }
        foreach ($messages as $class) {
            $app->bus()->dispatch($this->made($class));
        }
        foreach ($functions as $function) {
            $parameters = (new \ReflectionFunction($function))->getParameters();
            $function(...array_map(fn (\ReflectionParameter $parameter): mixed => $this->argument($parameter, $app), $parameters));
        }
        // The burst of Debounce ends after seconds, and a plan may have a delay: nobody waits for that.
        $app->work();

        $sent = $app->transport('a')->getSent();
        $atOnce = array_filter($sent, static fn (Envelope $envelope): bool => $envelope->last(DelayStamp::class) === null);
        self::assertSame($messages === [] && $functions === [], $sent === []);
        self::assertSame([], preg_grep('/^failed/', $app->events));
        self::assertCount(\count($atOnce), $app->handler->handled);
        self::assertNotSame([], [...$classes, ...$functions, ...preg_grep('/^return/m', $page->blocks('php')) ?: []], $namespace);
    }

    /**
     * Declares what the blocks of the page do, each page in a namespace of its own.
     *
     * @return array{string, list<class-string>, list<callable-string>}
     */
    private function declared(Page $page): array
    {
        $namespace = __NAMESPACE__ . '\\Example\\' . strtr(ucwords($page->name, '-'), ['-' => '']);
        $names = [get_declared_classes(), get_defined_functions()['user']];
        foreach ($page->blocks('php') as $code) {
            // A file of the application's configuration has no namespace.
            $bundles = preg_match('/^return/m', $code) === 1 ? eval($code) : eval("namespace $namespace;\n$code");
            foreach ($bundles ?? [] as $bundle => $environments) {
                self::assertTrue(class_exists($bundle));
            }
        }
        $isOfPage = static fn (string $name): bool => stripos($name, "$namespace\\") === 0;

        return [
            $namespace,
            array_values(array_filter(array_diff(get_declared_classes(), $names[0]), $isOfPage)),
            array_values(array_filter(array_diff(get_defined_functions()['user'], $names[1]), $isOfPage)),
        ];
    }

    /**
     * @param class-string $class
     */
    private function made(string $class): object
    {
        $parameters = (new \ReflectionClass($class))->getConstructor()?->getParameters() ?? [];

        return new $class(...array_map(fn (\ReflectionParameter $parameter): mixed => $this->argument($parameter), $parameters));
    }

    private function argument(\ReflectionParameter $parameter, ?App $app = null): mixed
    {
        $type = $parameter->getType();
        self::assertInstanceOf(\ReflectionNamedType::class, $type);
        $name = $type->getName();

        return match ($name) {
            'int' => 7,
            'string' => 'seven',
            'array' => $app === null ? [7, 8] : [new Plain(1), new Plain(2)],
            'object' => new Plain($parameter->getName()),
            MessageBusInterface::class => $app?->bus(),
            LockFactory::class => $app?->locks(),
            Plan::class => $app?->get(Plan::class),
            \DateTimeImmutable::class => new \DateTimeImmutable('2026-01-01'),
            default => class_exists($name) ? $this->made($name) : self::fail("No value for $parameter."),
        };
    }
}
