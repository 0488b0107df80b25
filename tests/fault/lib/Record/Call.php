<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * One call of a worker, and what came of it.
 */
final class Call implements Described
{
    /** When it returned; of a call that threw, or whose worker was killed in it: until when it may have had its effect. */
    public int $ended;

    /** @var list<string>|null null: it is not known what came of it */
    public ?array $result = null;

    public ?string $exception = null;

    /** @param list<string> $arguments */
    public function __construct(
        public readonly Teller $worker,
        public readonly int $number,
        public readonly string $name,
        public readonly string $resource,
        public readonly array $arguments,
        public readonly int $began,
    ) {
        $this->ended = $began;
    }

    /** Whether its answer begins with that. */
    public function answered(string $word): bool
    {
        return ($this->result[0] ?? null) === $word;
    }

    /** The same, when the server may have forgotten it since. */
    public function doubted(): self
    {
        $call = clone $this;
        $call->result = null;

        return $call;
    }

    public function describe(int $start): string
    {
        return sprintf(
            '%s #%d (pid %d) %s "%s" %s: %.6f to %.6f, %s',
            $this->worker->name,
            $this->number,
            $this->worker->pid,
            $this->name,
            $this->resource,
            implode(' ', $this->arguments),
            ($this->began - $start) / 1e9,
            ($this->ended - $start) / 1e9,
            $this->result !== null ? 'returned ' . implode(' ', $this->result) : $this->exception ?? 'not known',
        );
    }
}
