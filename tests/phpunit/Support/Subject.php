<?php

declare(strict_types=1);

namespace Latch\Tests\Support;

/**
 * The classes under test: which they are, and whose they are in this process.
 */
final class Subject
{
    public const SYMFONY = 'Symfony\Component\Lock\\';
    public const SYMFONY_SEMAPHORE = 'Symfony\Component\Semaphore\\';
    public const LATCH = 'Latch\\';

    /** What Latch provides of Symfony's classes, interfaces before what implements them. */
    public const CLASSES = [
        'LockInterface',
        'SharedLockInterface',
        'PersistingStoreInterface',
        'BlockingStoreInterface',
        'SharedLockStoreInterface',
        'BlockingSharedLockStoreInterface',
        'Exception\ExceptionInterface',
        'Exception\InvalidArgumentException',
        'Exception\InvalidTtlException',
        'Exception\LockAcquiringException',
        'Exception\LockConflictedException',
        'Exception\LockExpiredException',
        'Exception\LockReleasingException',
        'Exception\LockStorageException',
        'Exception\UnserializableKeyException',
        'Key',
        'Lock',
        'NoLock',
        'LockFactory',
        'Strategy\StrategyInterface',
        'Strategy\ConsensusStrategy',
        'Strategy\UnanimousStrategy',
        'Store\CombinedStore',
        'Store\DoctrineDbalPostgreSqlStore',
        'Store\DoctrineDbalStore',
        'Store\FlockStore',
        'Store\InMemoryStore',
        'Store\NullStore',
        'Store\PdoStore',
        'Store\PostgreSqlStore',
        'Store\SemaphoreStore',
        'Store\StoreFactory',
    ];

    /** The same of Symfony's Semaphore, of any release. */
    public const SEMAPHORE_CLASSES = [
        'SemaphoreInterface',
        'PersistingStoreInterface',
        'Exception\ExceptionInterface',
        'Exception\InvalidArgumentException',
        'Exception\RuntimeException',
        'Exception\SemaphoreAcquiringException',
        'Exception\SemaphoreExpiredException',
        'Exception\SemaphoreReleasingException',
        'Key',
        'Semaphore',
        'SemaphoreFactory',
        'Store\RedisStore',
    ];

    /** What has come to it with 8.1. */
    public const SEMAPHORE_CLASSES_OF_8 = [
        'Store\LockStore',
    ];

    /** What Latch makes in a way of its own: its constructor takes DSNs, too. */
    public const UNLIKE = [
        'Store\RedisStore',
    ];

    /**
     * The empty resource, which is refused under Latch's own names.
     *
     * @return array{}|array{empty: ''}
     */
    public static function emptyResource(): array
    {
        return self::mode() === 'latch' ? [] : ['empty' => ''];
    }

    /**
     * The message as Symfony has it: without the reason that Latch appends, and without words where Symfony has none.
     */
    public static function symfonysWords(\Throwable $e): string
    {
        return (string) preg_replace(
            [
                '/^(Failed to (?:acquire|release|define an expiration for) the ".*" lock): .+\.$/s',
                '/^The ".*" lock cannot be renewed: it is not held, or not any more; acquire it anew\.$/s',
            ],
            ['$1.', ''],
            $e->getMessage(),
        );
    }

    /**
     * oracle: pure PHP; latch: the extension under its own names; symfony: under Symfony's names.
     */
    public static function mode(): string
    {
        return match (true) {
            !\extension_loaded('latch') => 'oracle',
            (bool) \ini_get('latch.symfony') => 'symfony',
            default => 'latch',
        };
    }

    /**
     * The real name, in this mode, of a class given without its namespace: 'Store\FlockStore'.
     */
    public static function name(string $class): string
    {
        return (self::mode() === 'latch' ? self::LATCH : self::SYMFONY) . $class;
    }

    /**
     * The same of a class of semaphores: 'Store\RedisStore'.
     */
    public static function semaphoreName(string $class): string
    {
        return (self::mode() === 'latch' ? self::LATCH . 'Semaphore\\' : self::SYMFONY_SEMAPHORE) . $class;
    }

    /**
     * The text with the names of the classes under test cut down to what both namespaces share.
     */
    public static function plain(string $text): string
    {
        return str_replace(
            [self::SYMFONY, self::SYMFONY_SEMAPHORE, self::LATCH . 'Semaphore\\', self::LATCH],
            '',
            $text,
        );
    }

    /**
     * Lets pure PHP Symfony, as far as this release has it, be called by the names Latch\….
     */
    public static function aliasSymfony(): void
    {
        self::alias([...self::CLASSES, ...self::UNLIKE], self::SYMFONY, self::LATCH);
        self::alias(
            [...self::SEMAPHORE_CLASSES, ...self::SEMAPHORE_CLASSES_OF_8],
            self::SYMFONY_SEMAPHORE,
            self::LATCH . 'Semaphore\\',
        );
    }

    /**
     * @param list<string> $classes
     */
    private static function alias(array $classes, string $from, string $to): void
    {
        foreach ($classes as $class) {
            if (class_exists($from . $class) || interface_exists($from . $class)) {
                class_alias($from . $class, $to . $class);
            }
        }
    }
}
