<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;

/**
 * At the end a queue has only waiters that were killed while they waited there, and only until a request for
 * the lock; and nothing else stays for ever but the fencing counter.
 */
final class Remains implements Check
{
    /** With the slot's tag in a cluster. */
    private const COUNTER = '/^latch:(\{[@-O]{4}\}:)?fencing$/';
    /** What is kept for peers stays for a minute after the last of them, permits for ten seconds after the last holder. */
    private const FOR_A_WHILE = '/^(latch:(\{[@-O]{4}\}:)?(peers:|permit-peers:|string-peers:|permits:)|\{.+\}:(weight|time)$)/';

    public function violations(History $history): iterable
    {
        $killed = [];
        foreach ($history->workers as $worker) {
            if ($worker->last !== null && $worker->last->waits()) {
                $killed[$worker->last->resource][$worker->last->exclusive ? 'x' : 's'][] = $worker->last;
            }
        }
        foreach ($history->leftovers->queued as $resource => $queued) {
            foreach ($queued as $mode => $count) {
                $dead = $killed[$resource][$mode] ?? [];
                if ($count > \count($dead)) {
                    yield new Violation(Kind::Left, sprintf(
                        '%d %s in the queue of %s, where %d were killed',
                        $count,
                        $mode === 'x' ? 'writers' : 'readers',
                        $resource,
                        \count($dead),
                    ), ...$dead);
                }
            }
        }
        foreach ($history->leftovers->keys as $key => $ttl) {
            if (preg_match(self::COUNTER, $key) !== 1 && ($ttl < 0 || preg_match(self::FOR_A_WHILE, $key) !== 1)) {
                yield new Violation(Kind::Left, $ttl < 0 ? "the key $key for ever" : "the key $key for $ttl ms");
            }
        }
    }
}
