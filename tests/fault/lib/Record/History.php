<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What all workers recorded in a folder. In memory are the holds; the conflicts, of which there can be many
 * more, are read again when they are asked for.
 */
final class History
{
    /** Of the workers' files. */
    public const EXTENSION = 'records';

    /** @var array<string, list<Hold>> by resource, those that were granted or may have been */
    public array $holds = [];

    /** @var list<Teller> */
    public array $workers = [];

    /** @var list<Unfounded> */
    public array $unfounded = [];

    public readonly Faults $faults;

    public readonly Leftovers $leftovers;

    /** The earliest time, which is shown as zero. */
    public int $start = \PHP_INT_MAX;

    public function __construct(private readonly string $directory)
    {
        $this->faults = Faults::read($directory);
        $this->leftovers = Leftovers::read($directory);
        foreach ($this->files() as $file) {
            $story = Story::read($file, $this->faults);
            foreach ($story as $what) {
                if ($what instanceof Hold) {
                    foreach ($what->members() as $hold) {
                        $this->add($hold);
                    }
                } elseif ($what instanceof Unfounded) {
                    $this->unfounded[] = $what;
                }
            }
            $this->workers[] = $worker = $story->getReturn();
            if ($worker->attempts > 0) {
                $this->start = min($this->start, $worker->start);
            }
        }
        ksort($this->holds);
    }

    /** A hold ends when the server forgets it, whatever its worker knows. */
    private function add(Hold $hold): void
    {
        $hold->endBy($this->faults->forgotten($hold->tried));
        foreach ($this->faults->switchesOf($hold->resource) as $switch) {
            $hold->endBySwitch(...$switch);
        }
        $end = $this->faults->sessionEnd($hold->worker->name, $hold->tried);
        if ($end !== null) {
            $hold->endWithSession(...$end);
        }
        $this->holds[$hold->resource][] = $hold;
    }

    /**
     * @return \Generator<int, Conflict>
     */
    public function conflicts(): \Generator
    {
        foreach ($this->files() as $file) {
            foreach (Story::read($file, $this->faults) as $what) {
                if ($what instanceof Conflict) {
                    yield $what;
                }
            }
        }
    }

    /** A time as it is shown. */
    public function at(int $time): string
    {
        return sprintf('%.6f', ($time - $this->start) / 1e9);
    }

    /** @return list<string> */
    private function files(): array
    {
        return glob("$this->directory/*." . self::EXTENSION) ?: [];
    }
}
