<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Rule\KeyTemplate;

/**
 * Locks for the time of an attempt, in one order, all of them or none.
 *
 * @internal
 */
final class LockGuard extends Guard
{
    public function __construct(
        private readonly Holds $holds,
        private readonly KeyTemplate $templates,
        private readonly StoreErrors $storeErrors,
        private readonly string $store,
    ) {
    }

    public function rules(): array
    {
        return [Lock::class];
    }

    /** A wrong placeholder is the mistake of the sender, not of the worker. */
    public function dispatching(Dispatch $dispatch): void
    {
        // What is handled at once finds it out there.
        foreach ($dispatch->senders === [] ? [] : $dispatch->rules->all(Lock::class) as $rule) {
            $this->templates->fill($rule->key, $dispatch->message);
        }
    }

    public function handling(Attempt $attempt): void
    {
        foreach ($this->inOrder($attempt) as [$store, $resource, $rule]) {
            try {
                $held = $this->holds->lock(
                    $attempt,
                    $store,
                    $resource,
                    $rule->ttl,
                    $rule->maxHold,
                    $rule->read,
                    $rule->wait,
                    $rule,
                );
            } catch (LockException $e) {
                $this->storeErrors->refuse($attempt, $resource, $e, $rule->delay, $rule);
                return;
            }
            if (!$held) {
                $attempt->refuse($resource, "The lock \"$resource\" is taken", $rule->onConflict, $rule->delay, by: $rule);
                return;
            }
        }
    }

    /**
     * @return array<array{string, string, Lock}> each resource of a store once, for writing if one rule says so
     */
    private function inOrder(Attempt $attempt): array
    {
        $locks = [];
        foreach ($attempt->rules->all(Lock::class) as $rule) {
            $store = $rule->store ?? $this->store;
            $resource = $this->templates->fill($rule->key, $attempt->message);
            $id = "$resource\0$store";
            if (!isset($locks[$id]) || $locks[$id][2]->read) {
                $locks[$id] = [$store, $resource, $rule];
            }
        }
        ksort($locks, \SORT_STRING);

        return $locks;
    }
}
