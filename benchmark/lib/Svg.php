<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * A picture with a title, as SVG.
 */
abstract class Svg
{
    protected const WIDTH = 720;
    protected const FAINT = '#6b7280';

    public function __construct(private readonly string $title, private readonly string $subtitle)
    {
    }

    abstract public function __toString(): string;

    /** The whole of it, $height high, with $body below the title. */
    protected function document(int $height, string $body): string
    {
        return sprintf(
            <<<'SVG'
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d"
                    font-family="system-ui, sans-serif" font-size="13" fill="#1f2937" role="img" aria-label="%3$s">
                <rect width="%1$d" height="%2$d" rx="8" fill="#ffffff"/>
                <text x="20" y="30" font-size="17" font-weight="600">%3$s</text>
                <text x="20" y="50" fill="%4$s">%5$s</text>
                %6$s</svg>

                SVG,
            self::WIDTH,
            $height,
            self::escape($this->title),
            self::FAINT,
            self::escape($this->subtitle),
            $body,
        );
    }

    protected static function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_XML1 | ENT_QUOTES);
    }
}
