<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * Points on one scale of seconds, a row of them for each kind of lock, as SVG.
 */
final class RecoveryPicture extends Svg
{
    /** Where names end, and where the scale begins and ends. */
    private const NAMES_END = 114;
    private const LEFT = 126;
    private const RIGHT = 690;
    private const TOP = 76;
    /** Of a row in which the points lie one below the other, and of one without such an order. */
    private const ROW = 84;
    private const LOW_ROW = 30;
    private const GAP = 14;
    private const TICK_SECONDS = 5;
    private const LATCH = '#4f46e5';
    private const EXPECTED = '#e0e7ff';
    private const USUAL = '#fde68a';
    private const GRID = '#e5e7eb';

    /** @var list<array{string, int, list<float>}> */
    private array $rows = [];

    /**
     * @param int         $ttl     in seconds, of a lock that is renewed each third of it; 0: it has none
     * @param list<float> $seconds from the kill to the next holder
     */
    public function add(string $name, int $ttl, array $seconds): void
    {
        $this->rows[] = [$name, $ttl, $seconds];
    }

    public function __toString(): string
    {
        $last = max(...array_column($this->rows, 1), ...array_merge(...array_column($this->rows, 2)));
        $scale = (self::RIGHT - self::LEFT) / ($last * 1.02);
        $y = self::TOP;
        $rows = '';
        foreach ($this->rows as [$name, $ttl, $seconds]) {
            $rows .= $this->row($name, $ttl, $seconds, $y, $scale);
            $y += ($ttl > 0 ? self::ROW : self::LOW_ROW) + self::GAP;
        }
        $rows .= self::usualRow($y);
        $y += self::LOW_ROW + self::GAP;

        return $this->document($y + 46, self::axis($y, $last, $scale) . $rows);
    }

    /** The ones with the longest time on top: they had been renewed just before. */
    private function row(string $name, int $ttl, array $seconds, int $y, float $scale): string
    {
        rsort($seconds);
        $height = $ttl > 0 ? self::ROW : self::LOW_ROW;
        $text = self::name($name, $y, $height);
        if ($ttl > 0) {
            $text .= sprintf(
                "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                self::LEFT + $ttl * 2 / 3 * $scale,
                $y,
                $ttl / 3 * $scale,
                $height,
                self::EXPECTED,
            );
        }
        foreach ($seconds as $i => $value) {
            $text .= sprintf(
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\" fill-opacity=\"0.7\"/>\n",
                self::LEFT + $value * $scale,
                $y + $height * ($ttl > 0 ? ($i + 0.5) / count($seconds) : 0.5),
                self::LATCH,
            );
        }
        [$least, $most] = [min($seconds), max($seconds)];
        $spread = $ttl > 0
            ? sprintf('%.2f to %.2f s, median %.2f s', $least, $most, Stats::median($seconds))
            : sprintf('median %.1f ms: the kernel frees it', Stats::median($seconds) * 1e3);
        // Beside the points, where there is room.
        $right = self::LEFT + max($most, $ttl) * $scale + 12;
        $isRoom = $right < self::RIGHT - 250;

        return $text . sprintf(
            "<text x=\"%.1f\" y=\"%d\"%s fill=\"%s\">%s</text>\n",
            $isRoom ? $right : self::LEFT + min($least, $ttl * 2 / 3) * $scale - 12,
            $y + intdiv($height, 2) + 5,
            $isRoom ? '' : ' text-anchor="end"',
            self::FAINT,
            $spread,
        );
    }

    /** What is so without renewal: longer than the scale. */
    private static function usualRow(int $y): string
    {
        [$middle, $bottom, $right] = [$y + self::LOW_ROW / 2, $y + self::LOW_ROW, self::RIGHT];

        return self::name('not renewed', $y, self::LOW_ROW) . sprintf(
            "<path d=\"M%d %d H%d L%d %d L%d %d H%d Z\" fill=\"%s\"/>\n<text x=\"%d\" y=\"%d\">%s</text>\n",
            self::LEFT,
            $y,
            $right - 14,
            $right,
            $middle,
            $right - 14,
            $bottom,
            self::LEFT,
            self::USUAL,
            self::LEFT + 12,
            $middle + 5,
            sprintf("what is left of a TTL for the whole job: up to %d s by Symfony's default", RecoveryReport::USUAL_TTL),
        );
    }

    private static function axis(int $bottom, float $last, float $scale): string
    {
        $text = '';
        for ($second = 0; $second <= $last; $second += self::TICK_SECONDS) {
            $x = self::LEFT + $second * $scale;
            $text .= sprintf(
                "<path d=\"M%.1f %d V%d\" stroke=\"%s\"/>\n"
                    . "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%d s</text>\n",
                $x,
                self::TOP - 8,
                $bottom,
                self::GRID,
                $x,
                $bottom + 16,
                self::FAINT,
                $second,
            );
        }

        return $text . sprintf(
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">%s</text>\n",
            self::RIGHT,
            $bottom + 34,
            self::FAINT,
            'from the kill until the next one has the lock, each a point; shaded: 2/3 of the TTL to all of it',
        );
    }

    private static function name(string $name, int $y, int $height): string
    {
        return sprintf(
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-weight=\"600\">%s</text>\n",
            self::NAMES_END,
            $y + intdiv($height, 2) + 5,
            self::escape($name),
        );
    }
}
