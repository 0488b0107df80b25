<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use PHPUnit\Framework\TestCase;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\StampInterface;
use Symfony\Component\Messenger\Stamp\TransportNamesStamp;

abstract class AppTestCase extends TestCase
{
    /**
     * @param array<class-string, string|list<string>> $routing
     * @param array<string, mixed>                     $latch
     * @param list<string>                             $middleware
     */
    protected function app(array $routing = [], array $latch = [], array $middleware = [], ?\Closure $services = null): App
    {
        return new App($routing, $latch, $middleware, $services);
    }

    /** Handles it here, whatever transport it is for. */
    protected function direct(App $app, object $message, StampInterface ...$stamps): Envelope
    {
        return $app->bus()->dispatch($message, [new TransportNamesStamp([]), ...$stamps]);
    }

    /**
     * @template E of \Throwable
     *
     * @param class-string<E> $class
     *
     * @return E
     */
    protected function assertThrows(string $class, \Closure $call): \Throwable
    {
        try {
            $call();
        } catch (\Throwable $e) {
            self::assertInstanceOf($class, $e, $e->getMessage());

            return $e;
        }
        self::fail("No $class was thrown.");
    }
}
