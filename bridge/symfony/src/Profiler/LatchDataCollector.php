<?php

declare(strict_types=1);

namespace Latch\Symfony\Profiler;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\DataCollector\DataCollector;
use Symfony\Component\HttpKernel\DataCollector\LateDataCollectorInterface;

/**
 * The panel "Locks" of Symfony's profiler. Times are milliseconds since the request's beginning.
 *
 * @phpstan-type Span array{resource: string, kind: string, store: string, read: bool, outcome: string, note: string, start: float, waited: float, held: float}
 * @phpstan-type MessageRow array{time: float, what: string, message: string, rule: string, key: string, text: string}
 */
final class LatchDataCollector extends DataCollector implements LateDataCollectorInterface
{
    private float $start = 0.0;

    public function __construct(private readonly LockTrace $trace)
    {
    }

    public function collect(Request $request, Response $response, ?\Throwable $exception = null): void
    {
        $began = $request->server->get('REQUEST_TIME_FLOAT');
        // A process of the console may have begun long ago.
        $this->start = \PHP_SAPI !== 'cli' && is_numeric($began) ? min((float) $began, $this->trace->since) : $this->trace->since;
    }

    public function lateCollect(): void
    {
        $now = microtime(true);
        $spans = [];
        foreach ($this->trace->spans as $span) {
            $acquired = $span->start + $span->waited;
            $isTimed = \in_array($span->outcome, [LockSpan::HELD, LockSpan::RELEASED, LockSpan::LOST], true);
            $spans[] = [
                'resource' => mb_scrub($span->resource, 'UTF-8'),
                'kind' => $span->kind,
                'store' => $span->store,
                'read' => $span->read,
                'outcome' => $span->outcome,
                'note' => mb_scrub($span->note, 'UTF-8'),
                'start' => 1000 * ($span->start - $this->start),
                'waited' => 1000 * $span->waited,
                'held' => $isTimed ? 1000 * (($span->end ?? $now) - $acquired) : 0.0,
            ];
        }
        $messages = [];
        foreach ($this->trace->messages as ['time' => $time, 'what' => $what, 'labels' => $labels, 'text' => $text]) {
            $messages[] = ['time' => 1000 * ($time - $this->start), 'what' => $what, ...$labels, 'text' => mb_scrub($text, 'UTF-8')];
        }
        $this->data = ['spans' => $spans, 'messages' => $messages];
    }

    public function reset(): void
    {
        $this->data = [];
    }

    public function getName(): string
    {
        return 'latch';
    }

    /**
     * @return list<Span>
     */
    public function getSpans(): array
    {
        return $this->data['spans'] ?? [];
    }

    /**
     * @return list<MessageRow>
     */
    public function getMessages(): array
    {
        return $this->data['messages'] ?? [];
    }

    public function count(string $outcome): int
    {
        return \count(array_filter($this->getSpans(), static fn (array $span): bool => $span['outcome'] === $outcome));
    }

    /** Those that were acquired. */
    public function getAcquired(): int
    {
        return \count($this->getSpans()) - $this->count(LockSpan::REFUSED) - $this->count(LockSpan::FAILED);
    }

    /**
     * @return float milliseconds
     */
    public function getWaited(): float
    {
        return array_sum(array_column($this->getSpans(), 'waited'));
    }

    /**
     * Of the picture of time: that of the first lock, as the application may have been made for long before.
     *
     * @return float milliseconds
     */
    public function getBegin(): float
    {
        return min([$this->getEnd() - 0.001, ...array_column($this->getSpans(), 'start')]);
    }

    /**
     * Of the last lock; with one that is held still that of the request.
     *
     * @return float milliseconds
     */
    public function getEnd(): float
    {
        return max([0.001, ...array_map(
            static fn (array $span): float => $span['start'] + $span['waited'] + $span['held'],
            $this->getSpans(),
        )]);
    }
}
