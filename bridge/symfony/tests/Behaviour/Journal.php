<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * What the application's processes have told, in the order of their clock.
 */
final class Journal
{
    /** Seconds after which what should happen is taken not to. A test ends as soon as it knows. */
    private const PATIENCE = 60;

    /** @var list<Event> what has been read, in the order of the clock */
    private array $events = [];

    private int $read = 0;

    public function __construct(private readonly string $file)
    {
        $this->clear();
    }

    /** Processes go on writing at its new end. */
    public function clear(): void
    {
        file_put_contents($this->file, '');
        $this->events = [];
        $this->read = 0;
    }

    /** An event that only the test knows of. */
    public function note(string $event, string $by): void
    {
        $line = ['at' => hrtime(true), 'by' => $by, 'event' => $event, 'message' => ''];
        file_put_contents($this->file, json_encode($line) . "\n", \FILE_APPEND);
    }

    /**
     * @return list<Event> those of this kind; of this message, where one is named
     */
    public function events(?string $event = null, ?string $message = null): array
    {
        $this->read();

        return array_values(array_filter($this->events, static fn (Event $e): bool
            => ($event === null || $e->event === $event) && ($message === null || $e->message === $message)));
    }

    public function count(string $event, ?string $message = null): int
    {
        return \count($this->events($event, $message));
    }

    /**
     * @return list<string> the messages of these events
     */
    public function messages(string $event): array
    {
        return array_map(static fn (Event $e): string => $e->message, $this->events($event));
    }

    /** Returns that event when it has happened so often. */
    public function await(string $event, ?string $message = null, int $times = 1): Event
    {
        $this->awaitThat(
            fn (): bool => $this->count($event, $message) >= $times,
            "$times × \"$event\" of " . ($message ?? 'any message'),
        );

        return $this->events($event, $message)[$times - 1];
    }

    /**
     * @param callable(): bool $happened
     */
    public function awaitThat(callable $happened, string $what): void
    {
        $end = microtime(true) + (float) (getenv('LATCH_TEST_PATIENCE') ?: self::PATIENCE);
        while (!$happened()) {
            if (microtime(true) > $end) {
                throw new \RuntimeException("This did not happen: $what.\n" . $this->text());
            }
            usleep(3000);
        }
    }

    /**
     * @return list<Span> of these messages, or of all; in the order of their begins
     */
    public function spans(string ...$messages): array
    {
        $open = $spans = [];
        foreach ($this->events() as $e) {
            $id = "$e->by\n$e->message";
            if ($e->event === 'begin') {
                $open[$id][] = $e;
            } elseif (\in_array($e->event, ['end', 'thrown'], true)) {
                $spans[] = $this->span(array_pop($open[$id]), $e);
            } elseif ($e->event === 'killed') {
                foreach ($open as $id => $begins) {
                    foreach (array_filter($begins, static fn (Event $begin): bool => $begin->by === $e->by) as $n => $begin) {
                        $spans[] = $this->span($begin, $e);
                        unset($open[$id][$n]);
                    }
                }
            }
        }
        foreach (array_merge(...array_values($open)) as $begin) {
            $spans[] = new Span($begin->message, $begin->by, $begin->at, \PHP_INT_MAX, 'none');
        }
        usort($spans, static fn (Span $a, Span $b): int => $a->from <=> $b->from);

        return array_values(array_filter($spans, static fn (Span $span): bool
            => $messages === [] || \in_array($span->message, $messages, true)));
    }

    /** How many of these messages were in the hands of handlers at the same time, at most. */
    public function mostAtATime(string ...$messages): int
    {
        $most = 0;
        $spans = $this->spans(...$messages);
        foreach ($spans as $span) {
            $beside = array_filter($spans, static fn (Span $s): bool => $s->from <= $span->from && $s->to > $span->from);
            $most = max($most, \count($beside));
        }

        return $most;
    }

    /** For the messages of failures. */
    public function text(): string
    {
        $events = $this->events();
        $since = $events[0]->at ?? 0;
        $lines = array_map(static fn (Event $e): string => $e->told($since), $events);
        if (\count($lines) > 150) {
            array_splice($lines, 50, -100, ['…']);
        }

        return implode("\n", $lines) . "\n";
    }

    /** What has come since. */
    private function read(): void
    {
        $text = (string) file_get_contents($this->file, offset: $this->read);
        $lines = explode("\n", $text);
        $rest = array_pop($lines); // of a line that is being written
        if ($lines !== []) {
            $this->read += \strlen($text) - \strlen($rest);
            array_push($this->events, ...array_map(Event::of(...), $lines));
            usort($this->events, static fn (Event $a, Event $b): int => $a->at <=> $b->at);
        }
    }

    private function span(Event $begin, Event $end): Span
    {
        return new Span($begin->message, $begin->by, $begin->at, $end->at, $end->event);
    }
}
