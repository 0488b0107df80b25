<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

use Latch\Tests\Support\Wait;

/**
 * What the processes of the application log.
 */
final class Log
{
    /**
     * The lines about locks, and those of the application itself, without "app: ".
     *
     * @return list<string>
     */
    public static function lines(string $file): array
    {
        $lines = is_file($file) ? (array) file($file, \FILE_IGNORE_NEW_LINES) : [];

        return array_values(preg_replace(
            '/^info: app: /',
            '',
            preg_grep('/" lock\b|ReadLocks|: app: |Error thrown|Uncaught/', $lines),
        ));
    }

    public static function await(string $file, string $text, int $times = 1): void
    {
        Wait::until(
            static fn (): bool => is_file($file) && substr_count((string) file_get_contents($file), $text) >= $times,
            "\"$text\" stands in the log",
        );
    }
}
