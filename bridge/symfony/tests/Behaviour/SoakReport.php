<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * What the journal of a soak tells: what should not be, and figures.
 */
final class SoakReport
{
    /** @var list<string> what should not be */
    public array $findings = [];

    /** Messages that were handled again after the death of their workers. */
    private int $again = 0;

    private int $handled = 0;

    /** @var array<string, list<Span>> by message */
    private array $spans = [];

    /** @var array<string, list<int>> times of kills, by worker */
    private array $kills = [];

    /** @var array<string, int> times at which messages were told to be handled, first */
    private array $told = [];

    private readonly float $seconds;

    public function __construct(private readonly Journal $journal, private readonly string $what)
    {
        foreach ($journal->spans() as $span) {
            $this->spans[$span->message][] = $span;
        }
        foreach ($journal->events('killed') as $kill) {
            $this->kills[$kill->by][] = $kill->at;
        }
        foreach ($journal->events('handled') as $handled) {
            $this->told[$handled->message] ??= $handled->at;
        }
        $events = $journal->events();
        $this->seconds = $events === [] ? 0.0 : (end($events)->at - $events[0]->at) / 1e9;
    }

    /**
     * @param list<string> $messages one after the other
     */
    public function expectOrder(array $messages): void
    {
        $before = null;
        foreach ($messages as $message) {
            $first = $this->expectOnce($message, true);
            $last = $before === null ? null : $this->lastEnd($before);
            if ($first !== null && $last !== null && $last > $first) {
                $this->findings[] = "$message began before $before had ended";
            }
            $before = $message;
        }
    }

    /**
     * @param list<string> $parts
     */
    public function expectAfter(string $after, array $parts): void
    {
        $begin = $this->expectOnce($after, true);
        foreach ($parts as $part) {
            $this->expectOnce($part, false);
            $ends = array_filter($this->spans[$part] ?? [], static fn (Span $span): bool => $span->end === 'end');
            if ($begin !== null && $ends !== [] && min(array_map(static fn (Span $span): int => $span->to, $ends)) > $begin) {
                $this->findings[] = "$after began before $part had ended";
            }
        }
    }

    public function text(): string
    {
        $text = \sprintf(
            "%s: %d handled in %.1f s (%d per second), %d of them again after a death, %d sent again\n",
            $this->what,
            $this->handled,
            $this->seconds,
            $this->seconds > 0 ? $this->handled / $this->seconds : 0,
            $this->again,
            $this->journal->count('sent again'),
        );
        foreach (\array_slice($this->findings, 0, 20) as $finding) {
            $text .= "  $finding\n";
        }

        return $text . ($this->findings === [] ? "  nothing lost, out of order or handled twice\n" : '  findings: ' . \count($this->findings) . "\n");
    }

    /**
     * To its end, and again only after its worker's death.
     *
     * @param bool $evenThen not even after a death, if the rules knew of its end
     *
     * @return int|null its begin; null: there was none
     */
    private function expectOnce(string $message, bool $evenThen): ?int
    {
        $spans = $this->spans[$message] ?? [];
        if (array_filter($spans, static fn (Span $span): bool => $span->end === 'end') === []) {
            $this->findings[] = "$message is lost";

            return $spans[0]->from ?? null;
        }
        $this->handled++;
        $this->again += (int) (\count($spans) > 1);
        foreach (\array_slice($spans, 1) as $i => $span) {
            if (!$this->hasDied($spans[$i], $span->from)) {
                $this->findings[] = "$message was handled twice, and {$spans[$i]->by} was not killed";
            }
            if ($evenThen && ($this->told[$message] ?? \PHP_INT_MAX) < $span->from) {
                $this->findings[] = "$message was handled again when the rules knew of its end";
            }
        }

        return $spans[0]->from;
    }

    private function hasDied(Span $span, int $until): bool
    {
        return array_filter($this->kills[$span->by] ?? [], static fn (int $at): bool => $at > $span->from && $at < $until) !== [];
    }

    private function lastEnd(string $message): ?int
    {
        $ends = array_map(static fn (Span $span): int => $span->to, $this->spans[$message] ?? []);

        return $ends === [] ? null : max($ends);
    }
}
