<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Sequence;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Backoff;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\SyncFactory;

/**
 * Handles the message after parts once. It is dispatched twice when a process dies between its dispatch and the note of that.
 *
 * Its deliveries share one place in a sequence of the group's own.
 *
 * @internal
 */
final class AfterGuard extends Guard
{
    /** So that a lock of the same name is another one. */
    private const PREFIX = 'after.';

    /** Seconds for which it is known that it was handled: more than a second delivery needs. */
    private const TTL = 86400.0;

    /** @var array<string, Sequence> those of messages that this process handles, by group */
    private array $sequences = [];

    /**
     * @param \Closure(): SyncFactory $factory not every store has one
     * @param string                  $store   that of the factory
     * @param float                   $lease   seconds for which a killed worker's message is its own
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly StoreErrors $storeErrors,
        private readonly Holds $holds,
        private readonly string $store,
        private readonly float $lease,
    ) {
    }

    public function rules(): array
    {
        return [AfterParts::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $after = $dispatch->rules->one(AfterParts::class);
        if ($after !== null) {
            $dispatch->travel->set('after', ['group' => $after->group]);
        }
    }

    public function handling(Attempt $attempt): void
    {
        $group = $attempt->travel->get('after')['group'] ?? null;
        if ($group === null) {
            return;
        }
        $sequence = $this->sequence($group);
        try {
            $turn = $sequence->resume(self::ticket($sequence));
            if ($turn->state === 'done') {
                $attempt->skip('This message after parts was handled already');

                return;
            }
            if ($turn->state === 'held') {
                $attempt->refuse($group, 'Another worker has this message', exactDelay: Backoff::round($turn->retryAfter));

                return;
            }
            // A handler may take longer than the lease, and has the lock then.
            if (!$this->holds->lock($attempt, $this->store, self::PREFIX . $group, null, null, false, false)) {
                $sequence->putBack(self::ticket($sequence));
                $attempt->refuse($group, 'Another worker has this message still');

                return;
            }
        } catch (LockException $e) {
            $this->storeErrors->refuse($attempt, $group, $e);

            return;
        }
        $this->sequences[$group] = $sequence;
    }

    public function ended(Travel $travel, bool $failed): void
    {
        $sequence = $this->takeSequence($travel);
        if ($sequence !== null) {
            $failed ? $sequence->putBack(self::ticket($sequence)) : $sequence->next(self::ticket($sequence));
        }
    }

    public function requeued(Travel $travel, float $delay): void
    {
        $sequence = $this->takeSequence($travel);
        $sequence?->putBack(self::ticket($sequence));
    }

    /** Null: this process has not handled it. */
    private function takeSequence(Travel $travel): ?Sequence
    {
        $group = $travel->get('after')['group'] ?? '';
        $sequence = $this->sequences[$group] ?? null;
        unset($this->sequences[$group]);

        return $sequence;
    }

    private static function ticket(Sequence $sequence): int
    {
        return $sequence->enter('after')->ticket;
    }

    private function sequence(string $group): Sequence
    {
        return ($this->factory)()->createSequence($group, self::TTL, $this->lease);
    }
}
