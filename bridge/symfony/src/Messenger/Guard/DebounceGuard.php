<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Symfony\Messenger\Debounce;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Backoff;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\SyncFactory;
use Symfony\Component\Messenger\Stamp\DelayStamp;

/**
 * Sends each message of a burst with a delay, and lets the last one through.
 *
 * @internal
 */
final class DebounceGuard extends Guard
{
    /**
     * @param \Closure(): SyncFactory $factory not every store has one
     */
    public function __construct(
        private readonly \Closure $factory,
        private readonly KeyTemplate $templates,
        private readonly StoreErrors $storeErrors,
    ) {
    }

    public function rules(): array
    {
        return [Debounce::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $rule = $dispatch->rules->one(Debounce::class);
        if ($rule === null || $dispatch->senders === []) {
            return;
        }
        $key = $this->templates->fill($rule->key, $dispatch->message);
        $debounce = ($this->factory)()->createDebounce($key, $rule->seconds, $rule->maxWait);
        $occurrence = $debounce->register();
        $delay = max((int) ceil(1000 * $occurrence->delay), $dispatch->envelope->last(DelayStamp::class)?->getDelay() ?? 0);
        $dispatch->envelope = $dispatch->envelope->withoutAll(DelayStamp::class)->with(new DelayStamp($delay));
        $dispatch->travel->set('debounce', [
            'key' => $key, 'seconds' => $rule->seconds, 'maxWait' => $rule->maxWait, 'token' => $occurrence->token,
        ]);
        $dispatch->afterSending(static fn () => $debounce->sent($occurrence->token));
    }

    public function handling(Attempt $attempt): void
    {
        $burst = $attempt->travel->get('debounce');
        if ($burst === null || !$attempt->byWorker) {
            return;
        }
        $rule = $attempt->rules->one(Debounce::class);
        try {
            $turn = $this->debounce($burst)->resume($burst['token']);
        } catch (LockException $e) {
            $this->storeErrors->refuse($attempt, $burst['key'], $e, by: $rule);

            return;
        }
        match ($turn->state) {
            'held' => $attempt->refuse($burst['key'], "\"$burst[key]\" has not come to rest", exactDelay: Backoff::round($turn->retryAfter), by: $rule),
            'done' => $attempt->skip("A later message of \"$burst[key]\" takes its place", $rule),
            default => null,
        };
    }

    /** One that has failed may be handled from the failure transport, if it is still the last one then. */
    public function ended(Travel $travel, bool $failed): void
    {
        $burst = $travel->get('debounce');
        if ($burst !== null && !$failed) {
            $this->debounce($burst)->done($burst['token']);
        }
    }

    /**
     * @param array<mixed> $burst
     */
    private function debounce(array $burst): \Latch\Debounce
    {
        return ($this->factory)()->createDebounce($burst['key'], $burst['seconds'], $burst['maxWait']);
    }
}
