<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * Groups of horizontal bars on one scale, as SVG.
 */
final class Picture extends Svg
{
    /** Where names end and bars begin, and what is left free for the longest bar's value. */
    private const NAMES_END = 230;
    private const BARS_BEGIN = 238;
    private const VALUE_WIDTH = 120;
    private const TOP = 72;
    private const BAR = 18;
    private const GAP = 4;
    private const GROUP_GAP = 22;
    private const COLOURS = ['#4f46e5', '#f59e0b', '#94a3b8'];

    /** @var array<string, array<string, float>> */
    private array $groups = [];

    /** @param array<string, float> $bars values by name; the first is the one that others are told in */
    public function add(string $group, array $bars): void
    {
        $this->groups[$group] = $bars;
    }

    public function __toString(): string
    {
        $longest = max(array_map(static fn (array $bars): float => max($bars), $this->groups));
        $scale = (self::WIDTH - self::BARS_BEGIN - self::VALUE_WIDTH) / $longest;
        $body = '';
        $y = self::TOP;
        foreach ($this->groups as $group => $bars) {
            $body .= $this->group($group, $bars, $y, $scale);
            $y += count($bars) * (self::BAR + self::GAP) + self::GROUP_GAP;
        }

        return $this->document($y, $body);
    }

    /** @param array<string, float> $bars */
    private function group(string $group, array $bars, int $y, float $scale): string
    {
        $lines = sprintf("<text x=\"20\" y=\"%d\" font-weight=\"600\">%s</text>\n", $y + 13, self::escape($group));
        $first = reset($bars);
        foreach (array_values($bars) as $at => $value) {
            $length = $value * $scale;
            $factor = $at > 0 && $first > 0 ? sprintf(' (%.1f ×)', $value / $first) : '';
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
                $length,
                self::BAR,
                self::COLOURS[$at % count(self::COLOURS)],
                self::BARS_BEGIN + $length + 8,
                $y + 13,
                number_format($value),
                $factor,
            );
            $y += self::BAR + self::GAP;
        }

        return $lines;
    }
}
