<?php

declare(strict_types=1);

namespace Latch\Tests\Support\CallOrder;

use Latch\Exception\InvalidArgumentException;
use Latch\Exception\LockAcquiringException;
use Latch\Exception\LockConflictedException;
use Latch\Exception\LockExpiredException;
use Latch\Exception\LockReleasingException;
use Latch\Exception\LockStorageException;
use Latch\Key;

/**
 * Something that a store or a logger does at the nth call of one of its methods.
 */
final class Fault
{
    /** @var array<string, class-string<\Throwable>> */
    public const THROWABLES = [
        'conflicted' => LockConflictedException::class,
        'expired' => LockExpiredException::class,
        'acquiring' => LockAcquiringException::class,
        'releasing' => LockReleasingException::class,
        'storage' => LockStorageException::class,
        'invalid' => InvalidArgumentException::class,
        'runtime' => \RuntimeException::class,
        'error' => \Error::class,
    ];

    /** Not errors: "reduce" shortens the key's lifetime, "expire" ends it, "lie" turns exists() round. */
    public const EFFECTS = ['reduce', 'expire', 'lie'];

    public const METHODS = [
        'save',
        'saveRead',
        'waitAndSave',
        'waitAndSaveRead',
        'putOffExpiration',
        'exists',
        'delete',
        'log',
    ];

    public function __construct(
        public readonly string $method,
        public readonly int $nth,
        public readonly string $kind,
    ) {
    }

    /**
     * Every fault that makes sense.
     *
     * @return iterable<self>
     */
    public static function all(): iterable
    {
        foreach (self::METHODS as $method) {
            foreach ([...array_keys(self::THROWABLES), ...self::EFFECTS] as $kind) {
                if ($kind === 'lie' && $method !== 'exists') {
                    continue;
                }
                // A logger that throws the exceptions of locks would be a strange one.
                if ($method === 'log' && !\in_array($kind, ['runtime', 'error', 'expire'], true)) {
                    continue;
                }
                foreach ([1, 2] as $nth) {
                    yield new self($method, $nth, $kind);
                }
            }
        }
    }

    public function __toString(): string
    {
        return "$this->kind at $this->method #$this->nth";
    }

    /**
     * @return bool whether the answer of exists() is to be turned round
     */
    public function strike(Key $key): bool
    {
        if (isset(self::THROWABLES[$this->kind])) {
            throw new (self::THROWABLES[$this->kind])("thrown by $this->method", 7);
        }
        match ($this->kind) {
            'reduce' => $key->reduceLifetime(30.0),
            'expire' => $key->reduceLifetime(-1.0),
            'lie' => null,
        };

        return $this->kind === 'lie';
    }
}
