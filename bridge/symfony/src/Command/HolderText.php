<?php

declare(strict_types=1);

namespace Latch\Symfony\Command;

/**
 * Holders of locks, in the words of the program latch.
 *
 * @internal
 *
 * @phpstan-import-type Holder from StoreInspector
 * @phpstan-import-type Found from StoreInspector
 */
final class HolderText
{
    /** Untrusted text on one line, without control characters of terminals. */
    public static function plain(string $text): string
    {
        $text = mb_scrub(addcslashes($text, "\0..\37\\\177"), 'UTF-8');

        return (string) preg_replace_callback(
            '/\xc2[\x80-\x9f]/',
            static fn (array $match): string => \sprintf('\\%o\\%o', \ord($match[0][0]), \ord($match[0][1])),
            $text,
        );
    }

    /**
     * @param Found $found
     * @param Holder|null $holder
     */
    public static function mode(array $found, ?array $holder): string
    {
        return $found['mode'] . (!isset($found['used'], $holder['weight']) ? ''
            : \sprintf(' %d/%s, %d in use', $holder['weight'], $holder['limit'] ?? '-', $found['used']));
    }

    /**
     * @param Holder $holder
     */
    public static function name(array $holder): string
    {
        return match (true) {
            isset($holder['session']) => "session $holder[session]",
            isset($holder['host']) => \sprintf('%s on %s (%s)', $holder['pid'] ?? '-', self::plain($holder['host']), self::plain($holder['script'] ?? '')),
            isset($holder['pid']) => self::process($holder['pid']),
            default => 'unknown (not on Latch, or without a note)',
        };
    }

    /**
     * @return string "2026-11-22 16:05:01 (12 s)"
     */
    public static function since(?float $since): string
    {
        return $since === null ? '-' : \sprintf('%s (%s)', date('Y-m-d H:i:s', (int) $since), self::span(microtime(true) - $since));
    }

    /**
     * @param Holder $holder
     */
    public static function end(array $holder): string
    {
        return match (true) {
            isset($holder['remaining']) => \sprintf('in %.1f s unless it is renewed', $holder['remaining']),
            \array_key_exists('remaining', $holder) => 'not by itself',
            isset($holder['session']) => 'with the session',
            default => 'with the process',
        };
    }

    /**
     * @return string "12 s", "3 h 5 min"
     */
    public static function span(float $seconds): string
    {
        $whole = (int) max(0, $seconds);

        return match (true) {
            $whole < 120 => "$whole s",
            $whole < 7200 => intdiv($whole, 60) . ' min',
            $whole < 172800 => intdiv($whole, 3600) . ' h ' . intdiv($whole, 60) % 60 . ' min',
            default => intdiv($whole, 86400) . ' days',
        };
    }

    /** "123 (php)", or "123" when it is gone by now. */
    private static function process(int $pid): string
    {
        $name = @file_get_contents("/proc/$pid/comm");

        return $name === false ? (string) $pid : \sprintf('%d (%s)', $pid, self::plain(rtrim($name, "\n")));
    }
}
