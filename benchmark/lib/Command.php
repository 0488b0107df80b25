<?php

declare(strict_types=1);

namespace Latch\Benchmark;

/**
 * What every suite makes of the options that benchmark/run explains, and of its report.
 */
final class Command
{
    private function __construct(
        public readonly int $rounds,
        /** For whatever is only needed meanwhile. */
        public readonly string $folder,
        private readonly string $target,
        private readonly bool $check,
        /** @var list<string> what stands behind the options */
        public readonly array $others,
    ) {
    }

    /** @param int $rounds unless an option says otherwise */
    public static function fromOptions(int $rounds): self
    {
        $options = getopt('', ['check', 'rounds:', 'report:'], $end);

        return new self(
            (int) ($options['rounds'] ?? $rounds),
            (string) getenv('LATCH_FOLDER'),
            (string) ($options['report'] ?? dirname(__DIR__) . '/report'),
            isset($options['check']),
            array_slice($GLOBALS['argv'], $end),
        );
    }

    /** For who waits at a terminal. */
    public static function say(string $what): void
    {
        fwrite(STDERR, "measuring: $what\n");
    }

    /** Prints and writes the report, and ends. */
    public function publish(string $suite, Report $report): never
    {
        file_put_contents("$this->target/$suite.json", $report->json());
        file_put_contents("$this->target/$suite.md", $report->markdown());
        file_put_contents("$this->target/$suite.svg", (string) $report->picture());
        echo $report->markdown(), "\n";

        $missed = array_filter($report->targets(), static fn (Target $target): bool => !$target->holds);
        exit($this->check && $missed !== [] ? 1 : 0);
    }
}
