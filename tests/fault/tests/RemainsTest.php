<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Tests;

use Latch\Tests\Fault\Check\Findings;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/**
 * What is there when all have ended.
 */
final class RemainsTest extends TestCase
{
    #[DataProvider('remains')]
    public function testNothingStaysForEver(?string $expected, string $leftovers): void
    {
        $tale = (new Tale())
            ->faults('kill 70 b | ended 80 b signal-9')
            ->leftovers($leftovers)
            ->tell('a', 'try 1 1 1 r x 5 99 | conflict 6 1 | try 7 2 2 q x try 9 | granted 8 2 - | end 9')
            ->tell('b', 'try 1 1 1 q x try 99 | granted 2 1 - | release 2 1 | released 2 1 | try 3 2 2 r x wait 99');

        $found = (new Findings($tale->history()))->shown['left'] ?? [];

        self::assertSame((array) $expected, array_map(static fn ($violation): string => $violation->text, $found));
    }

    /**
     * @return iterable<string, array{?string, string}>
     */
    public static function remains(): iterable
    {
        yield 'who was killed' => [null, 'queued 99 r x'];
        yield 'one more than that' => ['2 writers in the queue of r, where 1 were killed', 'queued 99 r x | queued 99 r x'];
        yield 'a reader' => ['1 readers in the queue of r, where 0 were killed', 'queued 99 r s'];
        yield 'elsewhere' => ['1 writers in the queue of q, where 0 were killed', 'queued 99 q x'];
        yield 'the counter' => [null, 'key 99 latch:fencing -1'];
        yield 'what is kept for peers' => [null, 'key 99 latch:peers:r 60000'];
        yield 'the same in a cluster' => [null, 'key 99 latch:{@ABO}:fencing -1 | key 99 latch:{@ABO}:peers:r 60000'];
        yield 'what is no tag' => ['the key latch:{@abc}:fencing for ever', 'key 99 latch:{@abc}:fencing -1'];
        yield 'that for ever' => ['the key latch:peers:r for ever', 'key 99 latch:peers:r -1'];
        yield 'a queue that somebody has asked for' => ['the key latch:queue:r for 99 ms', 'key 99 latch:queue:r 99'];
        yield 'a lock' => ['the key r for ever', 'key 99 r -1'];
    }
}
