<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use PHPUnit\Framework\Attributes\DataProvider;

/**
 * RateLimiter, each policy with another lock around what it counts.
 */
final class RateLimiterTest extends AppTestCase
{
    private const LIMIT = ['fixed' => 20, 'sliding' => 20, 'bucket' => 5];

    /**
     * @return iterable<string, array{string, bool, bool}>
     */
    public static function limits(): iterable
    {
        return self::waysOf(array_keys(self::LIMIT));
    }

    #[DataProvider('limits')]
    public function testManyProcessesTogetherDoNotExceedTheLimit(string $limit, bool $first, bool $second): void
    {
        $callers = [];
        foreach ([$first, $second, $first, $second] as $latch) {
            $callers[] = $this->app->console($latch, "app:call $limit");
        }
        foreach ($callers as $caller) {
            self::assertSame('Ready.', $caller->hear());
        }
        $calls = array_fill(0, (int) (self::LIMIT[$limit] / 2), 'customer 7');
        foreach ($callers as $caller) {
            $caller->tell(...$calls);
        }
        $answers = [];
        foreach ($callers as $caller) {
            array_push($answers, ...$caller->finish());
        }

        $counts = array_count_values($answers);
        ksort($counts);
        self::assertSame(
            ['Called.' => self::LIMIT[$limit], 'Too many calls.' => 4 * \count($calls) - self::LIMIT[$limit]],
            $counts,
        );
    }
}
