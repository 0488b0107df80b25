<?php

declare(strict_types=1);

namespace Latch\Symfony\Profiler;

use Latch\Lock;
use Latch\Semaphore\Semaphore;
use Latch\Symfony\Messenger\Event\RuleEvent;
use Symfony\Contracts\Service\ResetInterface;

/**
 * What the locks of a request have done, as their loggers tell it, and what the rules of messages have done.
 *
 * @internal
 */
final class LockTrace implements ResetInterface
{
    /** @var list<LockSpan> in the order of their beginnings */
    public array $spans = [];

    /** @var list<array{time: float, what: string, labels: array{message: class-string, rule: string, key: string}, text: string}> */
    public array $messages = [];

    public float $since;

    /** @var \WeakMap<object, LockSpan> those that are held, by key */
    private \WeakMap $held;

    /** Seconds that this process has waited for locks and semaphores, since its start. */
    private float $waited;

    public function __construct()
    {
        $this->reset();
    }

    public function reset(): void
    {
        $this->spans = [];
        $this->messages = [];
        $this->held = new \WeakMap();
        $this->since = microtime(true);
        $this->waited = self::waitedByThisProcess();
    }

    public function acquired(object $key, string $kind, string $store, bool $read): void
    {
        $span = $this->held[$key] ?? null;
        if ($span !== null && $span->end === null) {
            $span->read = $read;

            return;
        }
        $outcome = $kind === 'semaphore' ? LockSpan::ACQUIRED : LockSpan::HELD;
        $this->held[$key] = $this->begin($key, $kind, $store, $read, $outcome);
    }

    public function refused(object $key, string $kind, string $store, string $note, bool $failed): void
    {
        $span = $this->begin($key, $kind, $store, false, $failed ? LockSpan::FAILED : LockSpan::REFUSED);
        $span->end = microtime(true);
        $span->note = $note;
    }

    public function released(object $key): void
    {
        $span = $this->held[$key] ?? null;
        if ($span !== null && $span->end === null) {
            $span->end = microtime(true);
            $span->outcome = LockSpan::RELEASED;
        }
    }

    /** The permit of a message, of which its semaphore does not tell. */
    public function permitReleased(string $resource): void
    {
        foreach (array_reverse($this->spans) as $span) {
            if ($span->kind === 'semaphore' && $span->resource === $resource && $span->outcome === LockSpan::ACQUIRED) {
                $span->end = microtime(true);
                $span->outcome = LockSpan::RELEASED;

                return;
            }
        }
    }

    public function lost(object $key, string $note): void
    {
        $span = $this->held[$key] ?? null;
        if ($span !== null && $span->outcome !== LockSpan::LOST) {
            $span->end = microtime(true);
            $span->outcome = LockSpan::LOST;
            $span->note = $note;
        }
    }

    /**
     * @param string $what "refused", "skipped" …
     */
    public function message(string $what, RuleEvent $event, string $text): void
    {
        $this->messages[] = ['time' => microtime(true), 'what' => $what, 'labels' => $event->labels(), 'text' => $text];
    }

    /**
     * @param LockSpan::* $outcome
     */
    private function begin(object $key, string $kind, string $store, bool $read, string $outcome): LockSpan
    {
        $now = microtime(true);
        $total = self::waitedByThisProcess();
        $waited = min(max(0.0, $total - $this->waited), $now - $this->since);
        $this->waited = $total;
        $resource = $key instanceof \Stringable ? (string) $key : get_debug_type($key);

        return $this->spans[] = new LockSpan($resource, $kind, $store, $now - $waited, $waited, $read, $outcome);
    }

    private static function waitedByThisProcess(): float
    {
        return Lock::getStatistics()['waitSeconds'] + Semaphore::getStatistics()['waitSeconds'];
    }
}
