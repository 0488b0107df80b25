<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Exception\UnserializableKeyException;
use Latch\Key;
use Latch\Lock;
use Latch\LockFactory;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Hold;
use Latch\Symfony\Messenger\Flow\PackedKey;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\HandOver;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Rule\KeyTemplate;

/**
 * Locks that a message has from its dispatch to its end: those of Once, its own or its chain's, and HandOver. Their keys
 * travel with it.
 *
 * @internal
 */
final class OnceGuard extends Guard
{
    /** So that a lock of the same name, for the handling, is another one. */
    private const PREFIX = 'once.';

    private const NAMES = ['once', 'handOver', 'chained'];

    /** @var array<string, Hold> those of messages that this process handles, by what travels */
    private array $holds = [];

    /**
     * @param \Closure(): LockFactory $factory so that a store is made when a message needs it
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly KeyTemplate $templates,
        private readonly StoreErrors $storeErrors,
        private readonly float $ttl,
    ) {
    }

    public function rules(): array
    {
        return [Once::class, HandOver::class, Chained::class, AfterParts::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $chained = $dispatch->rules->one(Chained::class);
        $after = $dispatch->rules->one(AfterParts::class);
        foreach ($after->locks ?? ($chained === null ? [] : ['chained' => $chained->lock]) as $name => $lock) {
            $this->takeOver($dispatch, $name, $lock);
        }
        if ($after !== null) {
            return;
        }
        $once = $dispatch->rules->one(Once::class);
        if ($once !== null) {
            $key = new Key(self::PREFIX . $this->templates->fill($once->key, $dispatch->message));
            if (!($this->factory)()->createLockFromKey($key, $once->queueTtl, false)->acquire()) {
                $dispatch->skip("A message of \"$key\" is on its way already", $once);

                return;
            }
            $dispatch->onUndo(fn () => ($this->factory)()->createLockFromKey($key, $once->queueTtl, false)->release());
            $this->travels($dispatch, 'once', $once->key, $key, $once->queueTtl, $once->ttl, $once->until);
        }
        $handOver = $dispatch->rules->one(HandOver::class);
        if ($handOver !== null) {
            $lock = ($this->factory)()->createLockFromKey($handOver->key, $handOver->queueTtl, false);
            if (!$lock->isAcquired()) {
                throw new \LogicException("HandOver: the lock \"$handOver->key\" is not held by this key, or not in the store latch.messenger.sync_store.");
            }
            $lock->refresh();
            $this->travels($dispatch, 'handOver', '', $handOver->key, $handOver->queueTtl, $handOver->ttl, 'done');
        }
    }

    public function handling(Attempt $attempt): void
    {
        foreach (self::NAMES as $name) {
            $lock = $attempt->travel->get($name);
            if ($lock !== null) {
                if ($lock['until'] === 'received') {
                    $this->release($lock['key']);
                } else {
                    $this->hold($attempt, $this->rule($attempt, $name, $lock), $lock);
                }
            }
        }
    }

    public function ended(Travel $travel, bool $failed): void
    {
        foreach (self::NAMES as $name) {
            $lock = $travel->get($name);
            if ($lock !== null && ($failed || $lock !== self::lockForNextStep($travel))) {
                $this->release($lock['key']);
            }
        }
    }

    /**
     * A chain has one lock, that of its first step.
     *
     * @return array<mixed>|null what travels
     */
    public static function lockForNextStep(Travel $travel): ?array
    {
        $lock = $travel->get('chained') ?? $travel->get('once');

        return $travel->get('chain') !== null && ($lock['until'] ?? null) === 'chain' ? $lock : null;
    }

    /**
     * The next step was skipped at its dispatch. The step before it was handled all the same.
     *
     * @param array<mixed> $lock what travels
     */
    public function endChain(array $lock): void
    {
        try {
            $this->release($lock['key']);
        } catch (LockException) {
            // Nobody renews it any more: its time ends.
        }
    }

    public function requeued(Travel $travel, float $delay): void
    {
        foreach (self::NAMES as $name) {
            $lock = $travel->get($name);
            if ($lock !== null && \in_array($lock['until'], ['done', 'chain'], true)) {
                $this->keep($lock, $delay);
            }
        }
    }

    /**
     * From the message whose next step it is, or as it has waited for its parts.
     *
     * @param array<mixed> $lock
     */
    private function takeOver(Dispatch $dispatch, string $name, array $lock): void
    {
        $dispatch->travel->set($name, $lock);
        try {
            $this->keep($lock);
        } catch (LockException) {
            // Its time in the queue is over: it is taken again before the message is handled.
        }
    }

    /**
     * For the time in the queue.
     *
     * @param array<mixed> $lock
     */
    private function keep(array $lock, float $delay = 0.0): void
    {
        $hold = $this->holds[$lock['key']] ?? null;
        unset($this->holds[$lock['key']]);
        ($hold?->lock() ?? $this->lock($lock['key'], $lock['queueTtl']))->refresh($lock['queueTtl'] + $delay);
    }

    /**
     * @param string $written the key with its placeholders
     */
    private function travels(
        Dispatch $dispatch,
        string $name,
        string $written,
        Key $key,
        float $queueTtl,
        ?float $ttl,
        string $until,
    ): void {
        try {
            $packed = PackedKey::pack($key);
        } catch (UnserializableKeyException $e) {
            throw new \LogicException(\sprintf(
                'The lock "%s" cannot travel with %s, as its store binds locks to a process: let latch.messenger.sync_store be a store in Redis.',
                $key,
                $dispatch->message::class,
            ), 0, $e);
        }
        $dispatch->travel->set($name, [
            'key' => $packed, 'written' => $written, 'queueTtl' => $queueTtl, 'ttl' => $ttl, 'until' => $until,
        ]);
    }

    /**
     * @param array<mixed> $lock
     */
    private function rule(Attempt $attempt, string $name, array $lock): ?Rule
    {
        return match ($name) {
            'once' => $attempt->rules->one(Once::class),
            'handOver' => new HandOver(PackedKey::unpack($lock['key']), $lock['queueTtl'], $lock['ttl']),
            default => new Once($lock['written'], $lock['until'], $lock['queueTtl'], $lock['ttl']),
        };
    }

    /**
     * @param array<mixed> $lock
     */
    private function hold(Attempt $attempt, ?Rule $rule, array $lock): void
    {
        $packed = $lock['key'];
        $resource = (string) PackedKey::unpack($packed);
        try {
            $hold = Hold::of(
                $resource,
                $lock['ttl'] ?? $this->ttl,
                null,
                fn (float $ttl): Lock => $this->lock($packed, $ttl),
                unattended: $lock['queueTtl'],
                rule: $rule,
            );
            $isAcquired = $hold->lock()->acquire();
        } catch (LockException $e) {
            $this->storeErrors->refuse($attempt, $resource, $e, by: $rule);

            return;
        }
        if (!$isAcquired) {
            $attempt->refuse($resource, "Its time in the queue was over, and another message of \"$resource\" is on its way", by: $rule);

            return;
        }
        $this->holds[$packed] = $hold;
        $attempt->watch($hold);
        $attempt->finally(function () use ($attempt, $lock): void {
            // One that is skipped ends the chain.
            if ($lock['until'] === 'attempt' || $attempt->skipped !== null && $lock === self::lockForNextStep($attempt->travel)) {
                $this->release($lock['key']);
            }
        });
    }

    private function release(string $packed): void
    {
        $hold = $this->holds[$packed] ?? null;
        unset($this->holds[$packed]);
        ($hold?->lock() ?? $this->lock($packed, $this->ttl))->release();
    }

    private function lock(string $packed, float $ttl): Lock
    {
        return ($this->factory)()->createLockFromKey(PackedKey::unpack($packed), $ttl, false);
    }
}
