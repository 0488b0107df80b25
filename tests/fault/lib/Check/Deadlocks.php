<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Teller;

/**
 * Of locks in tables Latch sends a statement again that the database gave up for another one: no program sees that. (A
 * session of advisory locks may end a circle of waits so.)
 */
final class Deadlocks implements Check
{
    /** MySQL's errors, and SQLSTATEs: deadlocks, serialisation failures and lock timeouts. */
    private const ERROR = '/\b(1213|1205|40001|40P01)\b|deadlock/i';
    private const KINDS = ['latch', 'pdo'];

    public function violations(History $history): iterable
    {
        foreach ($history->workers as $worker) {
            $isOurs = $worker->has(Teller::TTL_IN_SECONDS) && \in_array($worker->kind, self::KINDS, true);
            foreach ($isOurs ? $worker->failures : [] as $failure => $count) {
                if (preg_match(self::ERROR, strtr($failure, '_', ' ')) === 1) {
                    yield new Violation(Kind::Deadlock, sprintf('%s, %d x %s', $worker->name, $count, $failure));
                }
            }
        }
    }
}
