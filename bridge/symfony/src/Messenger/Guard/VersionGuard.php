<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Symfony\Messenger\Flow\Attempt;
use Latch\Symfony\Messenger\Flow\Dispatch;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Rule\KeyTemplate;
use Latch\SyncFactory;
use Latch\Version;

/**
 * Looks at the version twice: at the dispatch, and when it is handled, as queues do not keep the order.
 *
 * @internal
 */
final class VersionGuard extends Guard
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
        return [IfNewer::class];
    }

    public function dispatching(Dispatch $dispatch): void
    {
        $rule = $dispatch->rules->one(IfNewer::class);
        if ($rule === null || $dispatch->rules->one(AfterParts::class) !== null) {
            return;
        }
        [$newest, $version, $key] = $this->versions($rule, $dispatch->message);
        if (!$newest->advance($version, $rule->orSame)) {
            $dispatch->skip("Version $version of \"$key\" is not newer than {$newest->get()}", $rule);

            return;
        }
        $dispatch->onUndo(static fn () => $newest->revert($version));
    }

    public function handling(Attempt $attempt): void
    {
        $rule = $attempt->rules->one(IfNewer::class);
        if ($rule === null) {
            return;
        }
        [$newest, $version, $key] = $this->versions($rule, $attempt->message);
        try {
            // Of a message that was sent without the bundle, the version is news.
            if (!$newest->advance($version, true)) {
                $attempt->skip("A newer one than version $version of \"$key\" was sent", $rule);
            }
        } catch (LockException $e) {
            $this->storeErrors->refuse($attempt, $key, $e, by: $rule);
        }
    }

    /**
     * @return array{Version, string, string} the newest one, that of the message, and the key
     */
    private function versions(IfNewer $rule, object $message): array
    {
        $key = $this->templates->fill($rule->key, $message);
        $version = $this->templates->value($rule->version, $message);
        if ($version instanceof \DateTimeInterface) {
            $version = 1_000_000 * $version->getTimestamp() + (int) $version->format('u');
        }
        if (!\is_int($version) && !\is_string($version) && !$version instanceof \Stringable) {
            throw new \LogicException(\sprintf(
                'The version "%s" of %s is %s; it must be a whole number, a string or a date.',
                $rule->version,
                $message::class,
                get_debug_type($version),
            ));
        }

        return [($this->factory)()->createVersion($key, $rule->ttl), (string) $version, $key];
    }
}
