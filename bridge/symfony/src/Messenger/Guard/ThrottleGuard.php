<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Backoff;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Waits;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\Symfony\Messenger\Throttle;
use Latch\SyncFactory;

/**
 * Slots of time, the last that a message needs before it is handled: one that was given away is used up.
 *
 * @internal
 */
final class ThrottleGuard extends Guard
{
    /** Slots over which those are scattered that come back together, for each time that they did. */
    private const SCATTER = 2;

    /**
     * @param \Closure(): SyncFactory $factory not every store has one
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly KeyTemplate $templates,
        private readonly StoreErrors $storeErrors,
        private readonly Waits $waits,
    ) {
    }

    public function rules(): array
    {
        return [Throttle::class];
    }

    /** A wrong placeholder is the mistake of the sender, not of the worker. */
    public function dispatching(Dispatch $dispatch): void
    {
        foreach ($dispatch->rules->all(Throttle::class) as $rule) {
            $this->templates->fill($rule->key, $dispatch->message);
        }
    }

    public function handling(Attempt $attempt): void
    {
        foreach ($attempt->rules->all(Throttle::class) as $rule) {
            $resource = $this->templates->fill($rule->key, $attempt->message);
            $throttle = ($this->factory)()->createThrottle($resource, $rule->limit, $rule->interval, $rule->burst);
            try {
                $now = $rule->wait > 0
                    ? $this->waits->during($attempt, static fn (): bool => $throttle->acquire(true, $rule->wait))
                    : $throttle->acquire();
                $after = $now ? 0.0 : $throttle->getRetryAfter();
            } catch (LockException $e) {
                $this->storeErrors->refuse($attempt, $resource, $e, by: $rule);

                return;
            }
            if (!$now) {
                $after += $this->scatter($attempt, $rule);
                $attempt->refuse($resource, "There is no slot of \"$resource\" yet", exactDelay: Backoff::round($after), by: $rule);

                return;
            }
        }
    }

    /**
     * @return float seconds
     */
    private function scatter(Attempt $attempt, Throttle $rule): float
    {
        $times = $attempt->travel->get('conflicts')['count'] ?? 0;

        return $times * self::SCATTER * $rule->interval / $rule->limit * random_int(0, 1000) / 1000;
    }
}
