<?php

declare(strict_types=1);

namespace Latch\Tests\Support\CallOrder;

use Latch\BlockingSharedLockStoreInterface;
use Latch\BlockingStoreInterface;
use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\SharedLockStoreInterface;
use Latch\Store\FlockStore;
use Latch\Store\InMemoryStore;
use Latch\Store\NullStore;

/**
 * The table of what is done to a lock whose store is written in PHP: kinds of stores, times sequences
 * of steps, times times to live, times faults.
 */
final class Scenarios
{
    public const STORES = [
        'plain',
        'blocking',
        'shared',
        'blocking shared',
        'blocking, shared',
        'blocking, blocking shared',
        'subclass of FlockStore',
        'subclass of InMemoryStore',
        'subclass of NullStore',
    ];

    /** Steps separated by commas; "destroy" drops the lock object, "clone" copies it. */
    public const SEQUENCES = [
        'acquire',
        'acquire blocking',
        'acquireRead',
        'acquireRead blocking',
        'acquire, acquire',
        'acquireRead, acquire',
        'acquire, acquireRead',
        'acquireRead, acquireRead blocking, acquire blocking',
        'refresh',
        'refresh 10',
        'refresh 0',
        'acquire, refresh, refresh 10',
        'acquire, isExpired, isAcquired, isAcquired',
        'release',
        'acquire, release, release',
        'acquire, refresh 10, release, acquire',
        'acquireRead, release',
        'destroy',
        'acquire, destroy',
        'acquireRead, destroy',
        'acquire, release, destroy',
        'acquire, isAcquired, destroy',
        'isAcquired, destroy',
        'refresh 10, destroy',
        // Not a clone of what is held: it keeps the lock until its own end, different on purpose.
        'clone, acquire, destroy, destroy clone',
        'acquire, refresh, destroy',
    ];

    public const TTLS = ['no TTL' => null, 'TTL 0' => 0.0, 'TTL 300' => 300.0, 'TTL 300, kept' => 300.0];

    /**
     * Plays everything that the table has for one kind of store and one sequence.
     *
     * @return array<string, list<string>> transcripts by the name of what distinguishes them
     */
    public static function play(string $store, string $sequence): array
    {
        $transcripts = [];
        foreach (self::TTLS as $name => $ttl) {
            $transcripts[$name] = self::run($store, $sequence, $name, null);
            foreach (Fault::all() as $fault) {
                $transcripts["$name, $fault"] = self::run($store, $sequence, $name, $fault);
            }
        }

        // A fault in a method that is not called that often says nothing new.
        return array_filter($transcripts);
    }

    /**
     * @return list<string>|null what happened; null when the fault was not played
     */
    private static function run(string $store, string $sequence, string $ttl, ?Fault $fault): ?array
    {
        $key = new Key('the resource');
        $transcript = new Transcript($key, $fault);
        $lock = new Lock($key, self::store($store, $transcript), self::TTLS[$ttl], !str_ends_with($ttl, 'kept'));
        $lock->setLogger($transcript->logger);
        $copy = null;

        foreach (explode(', ', $sequence) as $name) {
            $transcript->step($name, match ($name) {
                'acquire' => static fn () => $lock->acquire(),
                'acquire blocking' => static fn () => $lock->acquire(true),
                'acquireRead' => static fn () => $lock->acquireRead(),
                'acquireRead blocking' => static fn () => $lock->acquireRead(true),
                'refresh' => static fn () => $lock->refresh(),
                'refresh 10' => static fn () => $lock->refresh(10.0),
                'refresh 0' => static fn () => $lock->refresh(0.0),
                'release' => static fn () => $lock->release(),
                'isAcquired' => static fn () => $lock->isAcquired(),
                'isExpired' => static fn () => $lock->isExpired(),
                'clone' => static function () use (&$lock, &$copy): void {
                    $copy = clone $lock;
                },
                'destroy' => static function () use (&$lock): void {
                    $lock = null;
                },
                'destroy clone' => static function () use (&$copy): void {
                    $copy = null;
                },
            });
        }
        // What the lock still does at its end belongs to "destroy" alone.
        $lines = $transcript->lines;
        try {
            $lock = null;
        } catch (\Throwable) {
        }
        $transcript->finish();

        return $fault === null || $transcript->struck ? $lines : null;
    }

    private static function store(string $kind, Transcript $transcript): PersistingStoreInterface
    {
        return match ($kind) {
            'plain' => new class ($transcript) implements PersistingStoreInterface {
                use ScriptedStore;
            },
            'blocking' => new class ($transcript) implements BlockingStoreInterface {
                use ScriptedStore;
            },
            'shared' => new class ($transcript) implements SharedLockStoreInterface {
                use ScriptedStore;
            },
            'blocking shared' => new class ($transcript) implements BlockingSharedLockStoreInterface {
                use ScriptedStore;
            },
            'blocking, shared' => new class ($transcript) implements
                BlockingStoreInterface,
                SharedLockStoreInterface
            {
                use ScriptedStore;
            },
            'blocking, blocking shared' => new class ($transcript) implements
                BlockingStoreInterface,
                BlockingSharedLockStoreInterface
            {
                use ScriptedStore;
            },
            'subclass of FlockStore' => (new class (self::directory()) extends FlockStore {
                use OverridingStore;

                public function waitAndSave(Key $key): void
                {
                    $this->transcript->called('waitAndSave', $key);
                    parent::waitAndSave($key);
                }

                public function waitAndSaveRead(Key $key): void
                {
                    $this->transcript->called('waitAndSaveRead', $key);
                    parent::waitAndSaveRead($key);
                }
            })->tell($transcript),
            'subclass of InMemoryStore' => (new class () extends InMemoryStore {
                use OverridingStore;
            })->tell($transcript),
            'subclass of NullStore' => (new class () extends NullStore {
                use OverridingStore;

                public function waitAndSaveRead(Key $key): void
                {
                    $this->transcript->called('waitAndSaveRead', $key);
                    parent::waitAndSaveRead($key);
                }
            })->tell($transcript),
        };
    }

    /** Lock files of this process's own: pure PHP and both of Latch's modes play the scenarios beside each other. */
    private static function directory(): string
    {
        static $directory = null;
        if ($directory === null) {
            $directory = sys_get_temp_dir() . '/latch-call-order-' . bin2hex(random_bytes(6));
            register_shutdown_function(static function (string $directory, int $owner): void {
                if (getmypid() === $owner) {
                    array_map(unlink(...), glob("$directory/*") ?: []);
                    @rmdir($directory);
                }
            }, $directory, getmypid());
        }

        return $directory;
    }
}
