<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Closure;

/**
 * Groups of horizontal bars on one scale, as SVG. A logarithmic scale has a line for each power of ten.
 */
final class Picture extends Svg
{
    /** Where names end and bars begin, and what is left free for the longest bar's value. */
    private const NAMES_END = 230;
    private const BARS_BEGIN = 238;
    private const VALUE_WIDTH = 140;
    private const TOP = 72;
    private const BAR = 18;
    private const GAP = 4;
    private const GROUP_GAP = 22;
    private const COLOURS = ['#4f46e5', '#f59e0b', '#94a3b8'];

    /** @var array<string, array<string, float>> */
    private array $groups = [];

    public function __construct(string $title, string $subtitle, private readonly bool $logarithmic = false)
    {
        parent::__construct($title, $subtitle);
    }

    /** @param array<string, float> $bars values by name; the first is the one that others are told in */
    public function add(string $group, array $bars): void
    {
        $this->groups[$group] = $bars;
    }

    public function __toString(): string
    {
        $all = array_merge(...array_map(array_values(...), array_values($this->groups)));
        $least = $this->logarithmic ? floor(log10(min($all))) : 0.0;
        $width = (self::WIDTH - self::BARS_BEGIN - self::VALUE_WIDTH) / ($this->position(max($all)) - $least);
        $length = fn (float $value): float => ($this->position($value) - $least) * $width;
        $body = $this->logarithmic ? $this->powersOfTen((int) $least, max($all), $length) : '';
        $y = self::TOP;
        foreach ($this->groups as $group => $bars) {
            $body .= $this->group($group, $bars, $y, $length);
            $y += count($bars) * (self::BAR + self::GAP) + self::GROUP_GAP;
        }

        return $this->document($this->height(), $body);
    }

    /** On the scale. */
    private function position(float $value): float
    {
        return $this->logarithmic ? log10($value) : $value;
    }

    /** @param Closure(float): float $length */
    private function powersOfTen(int $least, float $longest, Closure $length): string
    {
        $lines = '';
        for ($power = $least; 10 ** $power <= $longest; ++$power) {
            $lines .= sprintf(
                "<line x1=\"%1\$.1f\" y1=\"%2\$d\" x2=\"%1\$.1f\" y2=\"%3\$d\" stroke=\"#e5e7eb\"/>\n",
                self::BARS_BEGIN + $length(10 ** $power),
                self::TOP - 6,
                $this->height() - self::GROUP_GAP,
            );
        }

        return $lines;
    }

    private function height(): int
    {
        return self::TOP + array_sum(array_map(
            static fn (array $bars): int => count($bars) * (self::BAR + self::GAP) + self::GROUP_GAP,
            $this->groups,
        ));
    }

    /**
     * @param array<string, float>  $bars
     * @param Closure(float): float $length
     */
    private function group(string $group, array $bars, int $y, Closure $length): string
    {
        $lines = sprintf("<text x=\"20\" y=\"%d\" font-weight=\"600\">%s</text>\n", $y + 13, self::escape($group));
        $first = reset($bars);
        foreach (array_values($bars) as $at => $value) {
            $factor = $at > 0 && $first > 0 ? sprintf($value >= 100 * $first ? ' (%.0f ×)' : ' (%.1f ×)', $value / $first) : '';
            $lines .= sprintf(
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">%s</text>\n"
                    . "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"3\" fill=\"%s\"/>\n"
                    . "<text x=\"%.1f\" y=\"%d\">%s%s</text>\n",
                self::NAMES_END,
                $y + 13,
                self::FAINT,
                self::escape(array_keys($bars)[$at]),
                self::BARS_BEGIN,
                $y,
                $length($value),
                self::BAR,
                self::COLOURS[$at % count(self::COLOURS)],
                self::BARS_BEGIN + $length($value) + 8,
                $y + 13,
                number_format($value),
                $factor,
            );
            $y += self::BAR + self::GAP;
        }

        return $lines;
    }
}
