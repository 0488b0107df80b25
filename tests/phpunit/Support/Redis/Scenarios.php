<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Redis;

use Latch\Key;
use Latch\Lock;
use Latch\Tests\Support\CallOrder\Transcript;
use Latch\Tests\Support\Wait;

/**
 * The table of what is done to a lock in Redis: what is there already, times sequences of steps, times
 * times to live. The transcripts have the answers, the log, the key's lifetime, and the lock as it is on
 * the server.
 */
final class Scenarios
{
    private const RESOURCE = 'the resource';

    /** What somebody else has put in the lock's place; nobody waits for that. */
    public const OBSTACLES = ['a writer', 'a reader', 'a string', 'a list'];

    public const CIRCUMSTANCES = ['nothing', 'no script', 'an expired writer', ...self::OBSTACLES];

    /** Steps separated by commas; the last ones are not the lock's. */
    public const SEQUENCES = [
        'acquire',
        'acquire blocking',
        'acquireRead',
        'acquireRead blocking',
        'acquire, acquire',
        'acquire, acquire blocking',
        'acquireRead, acquire',
        'acquireRead, acquireRead',
        'acquire, acquireRead',
        'refresh',
        'refresh 10',
        'refresh 0',
        'isAcquired',
        'acquire, refresh, refresh 10, refresh 1000',
        'acquireRead, refresh 10',
        'acquire, isExpired, isAcquired',
        'release',
        'acquire, release, release',
        'acquire, refresh 10, release, acquire',
        'acquireRead, release',
        'destroy',
        'acquire, destroy',
        'acquireRead, destroy',
        'acquire, release, destroy',
        'isAcquired, destroy',
        // Not a clone of what is held: it keeps the lock until its own end, different on purpose.
        'clone, acquire, destroy, destroy clone',
        'acquire, lose, isAcquired, refresh 10, release',
        'acquire, lose, acquire, release',
        // Nothing that is lost and destroyed then: Latch's destructor does not ask whether the lock is still there.
        'acquire, taken, isAcquired, refresh 10, acquire, release',
        'acquireRead, joined, acquire, isAcquired, acquireRead, refresh 1000, release',
        'acquire, acquireRead, joined, refresh 10, acquire, destroy',
        'acquire, replaced by a list, isAcquired, refresh 10, acquire, release',
    ];

    public const TTLS = ['no TTL' => null, 'TTL 0' => 0.0, 'TTL 20' => 20.0, 'TTL 20, kept' => 20.0];

    /**
     * Plays all sequences under one circumstance.
     *
     * @return array<string, list<string>> transcripts by the name of what distinguishes them
     */
    public static function play(int $port, string $circumstance): array
    {
        $redis = Client::connect($port);
        $transcripts = [];
        foreach (self::SEQUENCES as $sequence) {
            if (str_contains($sequence, 'blocking') && \in_array($circumstance, self::OBSTACLES, true)) {
                continue;
            }
            // Latch does not ask about a lock that was never taken.
            if ($circumstance === 'a list' && !str_starts_with($sequence, 'acquire')) {
                continue;
            }
            foreach (self::TTLS as $name => $ttl) {
                $transcripts["$sequence, with $name"] = self::run($redis, $port, $circumstance, $sequence, $name);
            }
        }

        return $transcripts;
    }

    /**
     * @return list<string>
     */
    private static function run(
        \Redis $redis,
        int $port,
        string $circumstance,
        string $sequence,
        string $ttl,
    ): array {
        $redis->flushAll();
        self::put($redis, $circumstance);
        $key = new Key(self::RESOURCE);
        $transcript = new Transcript($key, null);
        $kept = str_ends_with($ttl, 'kept');
        $lock = new Lock($key, Client::store($port), self::TTLS[$ttl], !$kept);
        $lock->setLogger($transcript->logger);
        $copy = null;
        $failed = false;

        foreach (explode(', ', $sequence) as $name) {
            if ($circumstance === 'no script') {
                $redis->script('flush');
            }
            $transcript->step($name, match ($name) {
                'acquire' => static fn () => $lock->acquire(),
                'acquire blocking' => static fn () => $lock->acquire(true),
                'acquireRead' => static fn () => $lock->acquireRead(),
                'acquireRead blocking' => static fn () => $lock->acquireRead(true),
                'refresh' => static fn () => $lock->refresh(),
                'refresh 10' => static fn () => $lock->refresh(10.0),
                'refresh 1000' => static fn () => $lock->refresh(1000.0),
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
                'lose' => static fn () => self::put($redis, 'nothing'),
                'taken' => static fn () => self::put($redis, 'a writer'),
                'replaced by a list' => static fn () => self::put($redis, 'a list'),
                'joined' => static fn () => self::put($redis, 'one more reader'),
            });
            $state = self::state($redis, $key);
            if (!$kept && str_starts_with($name, 'destroy') && str_contains($state, 'ours')) {
                // Nobody has waited for the answer to this release.
                Wait::until(
                    static fn (): bool => !str_contains(self::state($redis, $key), 'ours'),
                    'the lock goes with its object',
                );
                $state = self::state($redis, $key);
            }
            $transcript->lines[] = "  the server has $state";
            $failed = self::unify($transcript, $failed);
        }
        // What the lock still does at its end belongs to "destroy" alone.
        $lines = $transcript->lines;
        try {
            $lock = null;
        } catch (\Throwable) {
        }
        $transcript->finish();

        return $lines;
    }

    /**
     * Takes out of the last step what need not be the same: the words around the server's error, and how
     * long a key would have lived if its lock could have been taken.
     *
     * @return bool whether the last attempt to take or to renew the lock has failed
     */
    private static function unify(Transcript $transcript, bool $failed): bool
    {
        [$step, $outcome] = [\count($transcript->lines) - 1, \count($transcript->lines) - 2];
        while (str_starts_with($transcript->lines[$step], '  ')) {
            $transcript->lines[$step] = (string) preg_replace(
                '/LockStorageException ".*?WRONGTYPE .*?(?:@user_script:\d+)?\.+" 0/',
                'LockStorageException with WRONGTYPE',
                $transcript->lines[$step],
            );
            --$step;
        }
        if (preg_match('/^(acquire|refresh)/', $transcript->lines[$step]) === 1) {
            $failed = preg_match('/^  (throws|returns false)/', $transcript->lines[$outcome]) === 1;
        }
        if ($failed) {
            $transcript->lines[$outcome] = strstr($transcript->lines[$outcome], '; the key', true);
        }

        return $failed;
    }

    private static function put(\Redis $redis, string $thing): void
    {
        if ($thing !== 'one more reader') {
            $redis->del(self::RESOURCE);
        }
        $now = self::milliseconds($redis);
        $readers = static fn (int $left, string ...$names) => array_map(
            static fn (string $name) => $redis->zAdd(self::RESOURCE, $now + $left, $name),
            $names,
        );
        match ($thing) {
            'nothing', 'no script' => null,
            'a writer' => $readers(100_000, 'other', '__write__'),
            'a reader', 'one more reader' => $readers(100_000, 'other'),
            'an expired writer' => $readers(-1, 'other', '__write__'),
            'a string' => $redis->set(self::RESOURCE, 'other', ['px' => 100_000]),
            'a list' => $redis->rPush(self::RESOURCE, 'other'),
        };
        if (!\in_array($thing, ['a list', 'one more reader'], true)) {
            $redis->pExpire(self::RESOURCE, 100_000);
        }
    }

    private static function milliseconds(\Redis $redis): int
    {
        [$seconds, $microseconds] = $redis->time();

        return (int) $seconds * 1000 + intdiv((int) $microseconds, 1000);
    }

    /** The lock as it is on the server, and when that ends. */
    private static function state(\Redis $redis, Key $key): string
    {
        $token = $key->hasState(Client::STATE) ? $key->getState(Client::STATE) : '';
        $seconds = static fn (float $ms): string => round($ms / 1000) . ' s';
        $type = $redis->type(self::RESOURCE);
        $members = '';
        if ($type === \Redis::REDIS_ZSET) {
            $now = self::milliseconds($redis);
            $found = [];
            foreach ($redis->zRange(self::RESOURCE, 0, -1, true) as $name => $score) {
                $found[] = ($name === $token ? 'ours' : $name) . ' for ' . $seconds($score - $now);
            }
            $found = preg_grep('/ -/', $found, \PREG_GREP_INVERT); // those that have expired
            if ($found === []) {
                return 'nothing';
            }
            sort($found);
            $members = implode(', ', $found);
        }
        $left = $redis->pttl(self::RESOURCE);

        return [
            \Redis::REDIS_NOT_FOUND => 'nothing',
            \Redis::REDIS_STRING => 'a string',
            \Redis::REDIS_LIST => 'a list',
            \Redis::REDIS_ZSET => $members,
        ][$type] . ($left > 0 ? '; it expires in ' . $seconds($left) : '');
    }
}
