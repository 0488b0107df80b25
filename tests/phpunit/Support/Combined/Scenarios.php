<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Combined;

use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Latch\Store\CombinedStore;
use Latch\Store\InMemoryStore;
use Latch\Strategy\ConsensusStrategy;
use Latch\Strategy\StrategyInterface;
use Latch\Strategy\UnanimousStrategy;
use Latch\Tests\Support\CallOrder\Fault;
use Latch\Tests\Support\CallOrder\Transcript;

/**
 * The table of what is done to combined stores: kinds of members, times strategies, times sequences of
 * steps, times faults of members that are written in PHP.
 */
final class Scenarios
{
    public const MEMBERS = [
        'none',
        'memory',
        'taken',
        'memory, memory, memory',
        'memory, taken, memory',
        'taken, memory, taken',
        'memory, taken, taken, memory, memory',
        'php, php, php',
        'shared, php, shared',
        'memory, php, memory',
        'taken, php, shared',
        'php, taken, php',
        'php, memory, taken, shared',
        'memory, consensus within, memory',
        'taken within, php, memory',
    ];

    public const STRATEGIES = ['consensus', 'unanimous', 'one', 'pessimist', 'optimist', 'confused'];

    public const SEQUENCES = [
        'save, exists, putOff, exists, delete, exists',
        'saveRead, exists, save, delete',
        'save, save, delete, save',
        'exists, delete, putOff',
        'putOff 0',
        'acquire, isAcquired, refresh, release',
        'acquire, destroy',
        'acquireRead, isAcquired, acquireRead, release',
    ];

    private const FAULTS = ['conflicted', 'expired', 'runtime', 'storage', 'expire', 'reduce', 'lie'];

    /**
     * What Latch does in an order of its own: combined stores within are asked before stores in PHP, and
     * tell their loggers afterwards.
     */
    private const NOT_WITHIN = ['pessimist', 'confused', 'expire'];

    /** @var list<object> what is not to be freed while a scenario is played */
    private static array $kept = [];

    /**
     * Plays everything that the table has for one kind of members.
     *
     * @return array<string, list<string>> transcripts by the name of what distinguishes them
     */
    public static function play(string $members): array
    {
        $transcripts = [];
        $strategies = str_contains($members, 'within')
            ? array_diff(self::STRATEGIES, self::NOT_WITHIN)
            : self::STRATEGIES;
        foreach ($strategies as $strategy) {
            foreach (self::SEQUENCES as $sequence) {
                $transcripts["$strategy: $sequence"] = self::run($members, $strategy, $sequence, null);
                foreach (self::faults($members) as $fault) {
                    if ($fault->kind === 'expire' && !\in_array($strategy, ['consensus', 'unanimous'], true)) {
                        continue; // Latch asks a user's strategy of what has expired, too.
                    }
                    $name = "$strategy: $sequence; $fault";
                    $transcripts[$name] = self::run($members, $strategy, $sequence, $fault);
                }
            }
        }

        return array_filter($transcripts);
    }

    /**
     * @return iterable<Fault>
     */
    private static function faults(string $members): iterable
    {
        foreach (explode(', ', $members) as $place => $kind) {
            if ($kind !== 'php' && $kind !== 'shared') {
                continue;
            }
            foreach (['save', 'saveRead', 'putOffExpiration', 'exists', 'delete'] as $method) {
                foreach (self::faultsOf($method, $members) as $fault) {
                    yield new Fault("$kind$place.$method", 1, $fault);
                }
            }
        }
    }

    /**
     * @return list<string>
     */
    private static function faultsOf(string $method, string $members): array
    {
        return array_values(array_diff(
            self::FAULTS,
            $method === 'exists' ? [] : ['lie'],
            // When it is told to give back, Symfony has looked at the time already, and Latch has not.
            $method === 'delete' ? ['expire'] : [],
            str_contains($members, 'within') ? self::NOT_WITHIN : [],
        ));
    }

    /**
     * @return list<string>|null what happened; null when the fault was not played
     */
    private static function run(string $members, string $strategy, string $sequence, ?Fault $fault): ?array
    {
        $key = new Key('the resource');
        $transcript = new Transcript($key, $fault);
        $store = self::combine($members, self::strategy($strategy, $transcript), $transcript);
        $lock = new Lock($key, $store, str_contains($sequence, 'refresh') ? 100.0 : null);
        $lock->setLogger($transcript->logger);

        foreach (explode(', ', $sequence) as $step) {
            $transcript->step($step, match ($step) {
                'save' => static fn () => $store->save($key),
                'saveRead' => static fn () => $store->saveRead($key),
                'exists' => static fn () => $store->exists($key),
                'delete' => static fn () => $store->delete($key),
                'putOff' => static fn () => $store->putOffExpiration($key, 10.0),
                'putOff 0' => static fn () => $store->putOffExpiration($key, 0.0),
                'acquire' => static fn () => $lock->acquire(),
                'acquireRead' => static fn () => $lock->acquireRead(),
                'refresh' => static fn () => $lock->refresh(),
                'isAcquired' => static fn () => $lock->isAcquired(),
                'release' => static fn () => $lock->release(),
                'destroy' => static function () use (&$lock): void {
                    $lock = null;
                },
            });
        }
        $lines = self::sort($transcript->lines);
        try {
            $lock = null;
        } catch (\Throwable) {
        }
        $transcript->finish();
        self::$kept = [];

        return $fault === null || $transcript->struck ? $lines : null;
    }

    /**
     * What a step calls, then what it logs: the one does not wait for the other.
     *
     * @param list<string> $lines
     *
     * @return list<string>
     */
    private static function sort(array $lines): array
    {
        $sorted = $logged = [];
        foreach ($lines as $line) {
            if (str_starts_with($line, '  log ')) {
                $logged[] = $line;
            } elseif (str_starts_with($line, '  store ')) {
                $sorted[] = $line;
            } else {
                array_push($sorted, ...$logged, ...[$line]);
                $logged = [];
            }
        }

        return [...$sorted, ...$logged];
    }

    private static function combine(string $members, StrategyInterface $strategy, Transcript $transcript): CombinedStore
    {
        $stores = [];
        foreach (explode(', ', $members) as $place => $kind) {
            if ($kind !== 'none') {
                $stores["a key $place"] = self::member($kind, "$kind$place", $transcript);
            }
        }
        $store = new CombinedStore($stores, $strategy);
        $store->setLogger($transcript->logger);

        return $store;
    }

    private static function member(string $kind, string $name, Transcript $transcript): PersistingStoreInterface
    {
        return match ($kind) {
            'memory' => new InMemoryStore(),
            'taken' => self::taken(),
            'php' => new RecordedStore($name, $transcript),
            'shared' => new RecordedSharedStore($name, $transcript),
            'consensus within' => self::combine('memory, taken, memory', new ConsensusStrategy(), $transcript),
            'taken within' => self::combine('memory, taken', new UnanimousStrategy(), $transcript),
        };
    }

    private static function taken(): InMemoryStore
    {
        $store = new InMemoryStore();
        self::$kept[] = $key = new Key('the resource');
        $store->save($key);

        return $store;
    }

    private static function strategy(string $name, Transcript $transcript): StrategyInterface
    {
        $yes = static fn (): bool => true;
        $no = static fn (): bool => false;

        return match ($name) {
            'consensus' => new ConsensusStrategy(),
            'unanimous' => new UnanimousStrategy(),
            'one' => new RecordedStrategy(
                $transcript,
                static fn (int $successes): bool => $successes >= 1,
                static fn (int $failures, int $items): bool => $failures < $items,
            ),
            'pessimist' => new RecordedStrategy($transcript, $no, $no),
            'optimist' => new RecordedStrategy($transcript, $yes, $yes),
            'confused' => new RecordedStrategy($transcript, $yes, $no),
        };
    }
}
