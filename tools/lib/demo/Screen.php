<?php

declare(strict_types=1);

namespace Latch\Demo;

/**
 * What the demo prints: a line that moves on a terminal, a line from time to time elsewhere.
 */
final class Screen
{
    private const BAR = 24;
    private const REPAINT_NS = 100_000_000;
    private const PLAIN_LINE_NS = 1_000_000_000;

    private readonly bool $live;
    private readonly bool $colours;
    private readonly int $width;
    private int $total = 0;
    private int $begunAt = 0;
    private int $paintAt = 0;
    private bool $painted = false;

    public function __construct()
    {
        $this->live = stream_isatty(STDOUT) && getenv('TERM') !== 'dumb';
        $this->colours = $this->live && (string) getenv('NO_COLOR') === '';
        $size = $this->live ? (string) shell_exec('stty size 2>/dev/null </dev/tty') : '';
        $this->width = (int) (explode(' ', $size)[1] ?? 0) ?: 80;
    }

    public function line(string $text = ''): void
    {
        echo $text, "\n";
    }

    public function title(string $text): void
    {
        $this->line($this->colour('1', $text));
    }

    public function begin(int $total): void
    {
        $this->total = $total;
        $this->begunAt = hrtime(true);
        $this->paintAt = $this->begunAt + ($this->live ? 0 : self::PLAIN_LINE_NS);
        $this->painted = false;
    }

    /** @param list<int> $bookings of each worker */
    public function progress(array $bookings): void
    {
        if (hrtime(true) < $this->paintAt) {
            return;
        }
        $this->paint($bookings);
        $this->paintAt = hrtime(true) + ($this->live ? self::REPAINT_NS : self::PLAIN_LINE_NS);
    }

    /** @param list<int> $bookings of each worker */
    public function finish(array $bookings): void
    {
        $this->paint($bookings);
    }

    public function result(Result $result): void
    {
        $this->row('', 'workers booked', 'file says', 'lost');
        foreach (['bookings' => 1, 'seats' => 1, 'cents' => 100] as $what => $unit) {
            $decimals = $unit === 1 ? 0 : 2;
            $numbers = array_map(
                static fn (Tally $of): string => number_format($of->$what / $unit, $decimals),
                [$result->booked, $result->found, $result->lost],
            );
            $this->row($what === 'cents' ? 'euros' : $what, ...$numbers);
        }
        $this->row('two at once', '', '', number_format($result->overlaps));
        $this->line();
    }

    public function verdict(Result $locked, ?Result $open): void
    {
        $this->line($locked->isClean()
            ? $this->colour('32', '0 lost with the lock: all that was booked is in the file.')
            : $this->colour('31', 'FAILED: the lock did not keep the workers apart.'));
        if ($open !== null) {
            $this->line(sprintf(
                '%s of %s bookings (%d %%) lost without it.',
                number_format($open->lost->bookings),
                number_format($open->booked->bookings),
                intdiv(100 * $open->lost->bookings, $open->booked->bookings),
            ));
        }
    }

    private function row(string $what, string $booked, string $found, string $lost): void
    {
        $this->line(rtrim(sprintf('  %-12s %16s %16s %16s', $what, $booked, $found, $lost)));
    }

    /** @param list<int> $bookings of each worker */
    private function paint(array $bookings): void
    {
        $done = array_sum($bookings);
        $seconds = max(hrtime(true) - $this->begunAt, 1) / 1e9;
        $text = sprintf(
            '%3d %%  %s bookings in %.1f s, %s/s',
            intdiv(100 * $done, $this->total),
            number_format($done),
            $seconds,
            number_format($done / $seconds),
        );
        $each = 'each worker: ' . implode(' ', $bookings);

        if (!$this->live) {
            $this->line("  $text; $each");
            return;
        }

        // Two lines, painted over the last two.
        $filled = intdiv(self::BAR * $done, $this->total);
        $bar = $this->colour('32', str_repeat('#', $filled)) . str_repeat('.', self::BAR - $filled);
        echo $this->painted ? "\e[2A" : '', "  [$bar] $text\e[K\n  ", $this->fit($each), "\e[K\n";
        $this->painted = true;
    }

    /** Cut to the terminal's width: a line that wraps could not be painted over. */
    private function fit(string $text): string
    {
        $room = $this->width - 3;

        return strlen($text) <= $room ? $text : substr($text, 0, $room - 3) . '...';
    }

    private function colour(string $code, string $text): string
    {
        return $this->colours ? "\e[{$code}m$text\e[0m" : $text;
    }
}
