<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Semaphore\Exception\ExceptionInterface as SemaphoreException;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Holds;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Rule\KeyTemplate;

/**
 * Permits for the time of an attempt, in one order.
 *
 * @internal
 */
final class LimitGuard extends Guard
{
    public function __construct(
        private readonly Holds $holds,
        private readonly KeyTemplate $templates,
        private readonly StoreErrors $storeErrors,
    ) {
    }

    public function rules(): array
    {
        return [Limit::class];
    }

    /** A wrong placeholder is the mistake of the sender, not of the worker. */
    public function dispatching(Dispatch $dispatch): void
    {
        foreach ($dispatch->rules->all(Limit::class) as $rule) {
            $this->templates->fill($rule->key, $dispatch->message);
        }
    }

    public function handling(Attempt $attempt): void
    {
        $limits = [];
        foreach ($attempt->rules->all(Limit::class) as $rule) {
            $resource = $this->templates->fill($rule->key, $attempt->message);
            $limits["$resource\0"] = [$resource, $rule];
        }
        ksort($limits, \SORT_STRING);
        foreach ($limits as [$resource, $rule]) {
            try {
                $held = $this->holds->permit($attempt, $resource, $rule);
            } catch (SemaphoreException $e) {
                $this->storeErrors->refuse($attempt, $resource, $e, $rule->delay, $rule);

                return;
            }
            if (!$held) {
                $attempt->refuse($resource, "As many of \"$resource\" are handled as may be", $rule->onConflict, $rule->delay, by: $rule);

                return;
            }
        }
    }
}
