<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Semaphore\Exception\UnserializableKeyException;
use Latch\Semaphore\Key;
use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\SemaphoreInterface;
use Latch\Symfony\Messenger\Bounded;
use Latch\Symfony\Messenger\Exception\QueueFullException;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\Flow\PackedKey;
use Latch\Symfony\Messenger\Flow\Travel;
use Latch\Symfony\Messenger\Rule\KeyTemplate;

/**
 * Permits that a message has from its dispatch to its end.
 *
 * @internal
 */
final class BoundGuard extends Guard
{
    /** So that a limit of the same name, for the handling, is another one. */
    private const PREFIX = 'bounded.';

    /**
     * @param \Closure(): SemaphoreFactory $factory not every store has one
     */
    public function __construct(private readonly \Closure $factory, private readonly KeyTemplate $templates)
    {
    }

    public function rules(): array
    {
        return [Bounded::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $rule = $dispatch->rules->one(Bounded::class);
        if ($rule === null || $dispatch->senders === []) {
            return;
        }
        $name = $this->templates->fill($rule->key, $dispatch->message);
        $key = new Key(self::PREFIX . $name, $rule->limit);
        $permit = ($this->factory)()->createSemaphoreFromKey($key, $rule->queueTtl, false);
        if (!$permit->acquire()) {
            $this->tooMuch($dispatch, $rule, $name);

            return;
        }
        $dispatch->onUndo($permit->release(...));
        try {
            $dispatch->travel->set('bounded', ['key' => PackedKey::packPermits($key), 'queueTtl' => $rule->queueTtl]);
        } catch (UnserializableKeyException $e) {
            throw new \LogicException(\sprintf(
                'The place of a %s in the queue cannot travel with it, as the store binds permits to a process: let latch.messenger.sync_store be a store in Redis.',
                $dispatch->message::class,
            ), 0, $e);
        }
    }

    public function ended(Travel $travel, bool $failed): void
    {
        $this->permit($travel)?->release();
    }

    public function requeued(Travel $travel, float $delay): void
    {
        $this->permit($travel)?->refresh(($travel->get('bounded')['queueTtl'] ?? 0.0) + $delay);
    }

    private function tooMuch(Dispatch $dispatch, Bounded $rule, string $name): void
    {
        switch ($rule->onFull) {
            case 'skip':
                $dispatch->skip("$rule->limit messages of \"$name\" are on their way already", $rule);
                break;
            case 'fail':
                throw new QueueFullException($name, $rule->limit);
            case 'sync':
                $dispatch->route();
                break;
            default:
                $dispatch->route(substr($rule->onFull, \strlen(Bounded::TRANSPORT)));
        }
    }

    private function permit(Travel $travel): ?SemaphoreInterface
    {
        $place = $travel->get('bounded');

        return $place === null ? null : ($this->factory)()->createSemaphoreFromKey(
            PackedKey::unpackPermits($place['key']),
            $place['queueTtl'],
            false,
        );
    }
}
