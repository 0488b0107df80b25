<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;

/**
 * All that is wrong in a history, by kind: how many, and the first of them.
 */
final class Findings extends Tally
{
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
            new Deadlocks(),
            new Workers(),
        ];
        foreach ($checks as $check) {
            $this->collect($check->violations($history));
        }
    }
}
