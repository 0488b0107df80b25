<?php

declare(strict_types=1);

namespace Latch\Tests\Shared;

use Latch\Exception\ExceptionInterface;
use Latch\Exception\InvalidArgumentException;
use Latch\Exception\InvalidTtlException;
use Latch\Tests\Support\Subject;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class ExceptionsTest extends TestCase
{
    /**
     * @return iterable<string, array{class-string<\Throwable>, class-string<\Throwable>}>
     */
    public static function exceptions(): iterable
    {
        $parents = [
            'InvalidArgumentException' => \InvalidArgumentException::class,
            'InvalidTtlException' => InvalidArgumentException::class,
            'LockAcquiringException' => \RuntimeException::class,
            'LockConflictedException' => \RuntimeException::class,
            'LockExpiredException' => \RuntimeException::class,
            'LockReleasingException' => \RuntimeException::class,
            'LockStorageException' => \RuntimeException::class,
            'UnserializableKeyException' => \RuntimeException::class,
        ];
        foreach ($parents as $class => $parent) {
            yield $class => ['Latch\Exception\\' . $class, $parent];
        }
    }

    /**
     * @param class-string<\Throwable> $class
     * @param class-string<\Throwable> $parent
     */
    #[DataProvider('exceptions')]
    public function testItIsAnOrdinaryException(string $class, string $parent): void
    {
        $previous = new \Exception();
        $exception = new $class('words', 5, $previous);

        self::assertInstanceOf(ExceptionInterface::class, $exception);
        self::assertInstanceOf($parent, $exception);
        self::assertSame((new \ReflectionClass($parent))->getName(), get_parent_class($exception));
        self::assertSame(['words', 5, $previous], [
            $exception->getMessage(),
            $exception->getCode(),
            $exception->getPrevious(),
        ]);
        self::assertSame('', (new $class())->getMessage());
    }

    public function testProgramsMayExtendThem(): void
    {
        $exception = new class ('words') extends InvalidTtlException {
        };

        self::assertInstanceOf(ExceptionInterface::class, $exception);
        self::assertSame(Subject::name('Exception\InvalidTtlException'), get_parent_class($exception));
    }
}
