<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * A table in Markdown that is also fit to be read on a terminal: the first column to the left, the
 * others to the right, all padded.
 */
final class Table
{
    /** @var list<list<string>> */
    private array $rows = [];

    public function __construct(string ...$head)
    {
        $this->rows[] = $head;
    }

    public function add(string ...$cells): void
    {
        $this->rows[] = $cells;
    }

    public function __toString(): string
    {
        $widths = [];
        foreach ($this->rows as $row) {
            foreach ($row as $column => $cell) {
                $widths[$column] = max($widths[$column] ?? 3, self::width($cell));
            }
        }

        $lines = array_map(
            static fn (array $row): string => self::line($row, $widths),
            $this->rows,
        );
        array_splice($lines, 1, 0, self::rule($widths));

        return implode("\n", $lines) . "\n";
    }

    /**
     * @param list<string> $row
     * @param list<int>    $widths
     */
    private static function line(array $row, array $widths): string
    {
        $cells = [];
        foreach ($row as $column => $cell) {
            $padding = str_repeat(' ', $widths[$column] - self::width($cell));
            $cells[] = $column === 0 ? $cell . $padding : $padding . $cell;
        }

        return '| ' . implode(' | ', $cells) . ' |';
    }

    /** In characters: "µs" has three bytes. */
    private static function width(string $cell): int
    {
        return (int) preg_match_all('/./su', $cell);
    }

    /** @param list<int> $widths */
    private static function rule(array $widths): string
    {
        $cells = array_map(
            static fn (int $width): string => str_repeat('-', $width - 1) . ':',
            $widths,
        );
        $cells[0] = ':' . str_repeat('-', $widths[0] - 1);

        return '| ' . implode(' | ', $cells) . ' |';
    }
}
