<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use PHPUnit\Framework\TestCase;

/**
 * Each test tells a story of two processes, and what is to be seen of it. It is told in four ways: both
 * processes without Latch, which is what users see today; both with it; and one with, one without.
 */
abstract class AppTestCase extends TestCase
{
    protected Application $app;

    /**
     * @return iterable<string, array{bool, bool}> whether the first and the second process have the extension
     */
    public static function ways(): iterable
    {
        yield 'without Latch' => [false, false];
        yield 'with Latch' => [true, true];
        yield 'the first with Latch' => [true, false];
        yield 'the second with Latch' => [false, true];
    }

    /**
     * The ways with each of these in front.
     *
     * @param list<string> $values
     *
     * @return iterable<string, array{string, bool, bool}>
     */
    protected static function waysOf(array $values): iterable
    {
        foreach ($values as $value) {
            foreach (self::ways() as $way => [$first, $second]) {
                yield "$value, $way" => [$value, $first, $second];
            }
        }
    }

    protected function setUp(): void
    {
        $this->app = Application::shared();
    }

    /** Whatever happened: no lock is left. */
    protected function assertPostConditions(): void
    {
        self::assertSame([], $this->app->keysInRedis(), 'Something is locked in Redis.');
        self::assertSame([], $this->app->lockedFiles(), 'A file is locked.');
        $this->app->database->awaitHeld(0);
    }
}
