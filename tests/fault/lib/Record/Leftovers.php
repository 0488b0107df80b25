<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What the store kept when all workers had ended. Its file has the records:
 *
 *   queued  TIME RESOURCE x|s   waiter in a queue, as a writer or as a reader, when the workers had ended
 *   key     TIME KEY TTL        what was there after the probes, and for how long in ms, -1 = for ever; of several
 *                               servers that may have it each
 */
final class Leftovers
{
    public const FILE = 'leftovers';

    /** @var array<string, array{x: int, s: int}> how many of each mode, by resource */
    public array $queued = [];

    /** @var array<string, int> the TTLs by the keys */
    public array $keys = [];

    public static function read(string $directory): self
    {
        $leftovers = new self();
        if (!is_file("$directory/" . self::FILE)) {
            return $leftovers;
        }
        foreach (Lines::of("$directory/" . self::FILE) as $record) {
            if ($record[0] === 'queued') {
                $leftovers->queued[$record[2]] ??= ['x' => 0, 's' => 0];
                ++$leftovers->queued[$record[2]][$record[3] === 'x' ? 'x' : 's'];
            } else {
                // What one server has for ever counts, whatever the others have.
                if (($leftovers->keys[$record[2]] ?? 0) >= 0) {
                    $leftovers->keys[$record[2]] = (int) $record[3];
                }
            }
        }

        return $leftovers;
    }
}
