<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;

/**
 * All that is wrong in a history, by kind: how many, and the first of them.
 */
final class Findings
{
    /** So many of a kind are kept. */
    public const SHOWN = 10;

    /** @var array<string, int> by the kinds' values */
    public array $counts = [];

    /** @var array<string, list<Violation>> */
    public array $shown = [];

    /** What it has found out about those that waited. */
    public readonly Waits $waits;

    /** And about those that were kept. */
    public readonly Keeping $keeping;

    public function __construct(History $history)
    {
        $this->waits = new Waits();
        $this->keeping = new Keeping();
        $checks = [
            new Overlaps(),
            new LostGrants(),
            new Permits(),
            new FencingOrder(),
            new Grants(),
            $this->waits,
            new MultiLocks(),
            $this->keeping,
            new Remains(),
            new Workers(),
        ];
        foreach ($checks as $check) {
            foreach ($check->violations($history) as $violation) {
                $kind = $violation->kind->value;
                $this->counts[$kind] = ($this->counts[$kind] ?? 0) + 1;
                if ($this->counts[$kind] <= self::SHOWN) {
                    $this->shown[$kind][] = $violation;
                }
            }
        }
    }

    public function count(): int
    {
        return array_sum($this->counts);
    }
}
