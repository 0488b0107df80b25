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
 * Locks that a message has from its dispatch to its end: those of Once and HandOver. Their keys travel with it.
 *
 * @internal
 */
final class OnceGuard extends Guard
{
    /** So that a lock of the same name, for the handling, is another one. */
    private const PREFIX = 'once.';

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
        return [Once::class, HandOver::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $once = $dispatch->rules->one(Once::class);
        if ($once !== null) {
            $key = new Key(self::PREFIX . $this->templates->fill($once->key, $dispatch->message));
            if (!($this->factory)()->createLockFromKey($key, $once->queueTtl, false)->acquire()) {
                $dispatch->skip("A message of \"$key\" is on its way already", $once);

                return;
            }
            $dispatch->onUndo(fn () => ($this->factory)()->createLockFromKey($key, $once->queueTtl, false)->release());
            $this->travels($dispatch, 'once', $key, $once->queueTtl, $once->ttl, $once->until);
        }
        $handOver = $dispatch->rules->one(HandOver::class);
        if ($handOver !== null) {
            $lock = ($this->factory)()->createLockFromKey($handOver->key, $handOver->queueTtl, false);
            if (!$lock->isAcquired()) {
                throw new \LogicException("HandOver: the lock \"$handOver->key\" is not held by this key, or not in the store latch.messenger.sync_store.");
            }
            $lock->refresh();
            $this->travels($dispatch, 'handOver', $handOver->key, $handOver->queueTtl, $handOver->ttl, 'done');
        }
    }

    public function handling(Attempt $attempt): void
    {
        $rules = ['once' => $attempt->rules->one(Once::class), 'handOver' => $attempt->rules->one(HandOver::class)];
        foreach ($rules as $name => $rule) {
            $lock = $attempt->travel->get($name);
            if ($lock !== null) {
                if ($lock['until'] === 'received') {
                    $this->release($lock['key']);
                } else {
                    $this->hold($attempt, $rule, $lock['key'], $lock['ttl'] ?? $this->ttl, $lock['queueTtl'], $lock['until'] === 'attempt');
                }
            }
        }
    }

    public function ended(Travel $travel, bool $failed): void
    {
        foreach (['once', 'handOver'] as $name) {
            $lock = $travel->get($name);
            if ($lock !== null) {
                $this->release($lock['key']);
            }
        }
    }

    public function requeued(Travel $travel, float $delay): void
    {
        foreach (['once', 'handOver'] as $name) {
            $lock = $travel->get($name);
            if ($lock !== null && $lock['until'] === 'done') {
                $hold = $this->holds[$lock['key']] ?? null;
                unset($this->holds[$lock['key']]);
                ($hold->lock ?? $this->lock($lock['key'], $lock['queueTtl']))->refresh($lock['queueTtl'] + $delay);
            }
        }
    }

    private function travels(Dispatch $dispatch, string $name, Key $key, float $queueTtl, ?float $ttl, string $until): void
    {
        try {
            $packed = PackedKey::pack($key);
        } catch (UnserializableKeyException $e) {
            throw new \LogicException(\sprintf(
                'The lock "%s" cannot travel with %s, as its store binds locks to a process: let latch.messenger.sync_store be a store in Redis.',
                $key,
                $dispatch->message::class,
            ), 0, $e);
        }
        $dispatch->travel->set($name, ['key' => $packed, 'queueTtl' => $queueTtl, 'ttl' => $ttl, 'until' => $until]);
    }

    private function hold(
        Attempt $attempt,
        ?Rule $rule,
        string $packed,
        float $ttl,
        float $queueTtl,
        bool $release,
    ): void {
        $resource = (string) PackedKey::unpack($packed);
        try {
            $hold = Hold::acquire(
                $resource,
                $ttl,
                null,
                fn (float $ttl): Lock => $this->lock($packed, $ttl),
                static fn (Lock $lock): bool => $lock->acquire(),
                unattended: $queueTtl,
                rule: $rule,
            );
        } catch (LockException $e) {
            $this->storeErrors->refuse($attempt, $resource, $e, by: $rule);

            return;
        }
        if ($hold === null) {
            $attempt->refuse($resource, "Its time in the queue was over, and another message of \"$resource\" is on its way", by: $rule);

            return;
        }
        $this->holds[$packed] = $hold;
        $attempt->watch($hold);
        if ($release) {
            $attempt->finally(fn () => $this->release($packed));
        }
    }

    private function release(string $packed): void
    {
        $hold = $this->holds[$packed] ?? null;
        unset($this->holds[$packed]);
        ($hold->lock ?? $this->lock($packed, $this->ttl))->release();
    }

    private function lock(string $packed, float $ttl): Lock
    {
        return ($this->factory)()->createLockFromKey(PackedKey::unpack($packed), $ttl, false);
    }
}
