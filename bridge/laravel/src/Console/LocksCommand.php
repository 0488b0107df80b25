<?php

declare(strict_types=1);

namespace Latch\Laravel\Console;

use Illuminate\Console\Command;
use Illuminate\Support\Str;
use Latch\Laravel\Inspection\HeldLock;
use Latch\Laravel\Inspection\Inspector;
use Latch\Laravel\Inspection\Inspectors;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Output\OutputInterface;

/**
 * Exit codes: 0; 1, the store does not tell; 2, there is no such store or option.
 */
final class LocksCommand extends Command
{
    protected $signature = 'latch:locks
        {store? : The cache store; without it the default one}
        {--pattern=* : Only locks whose names match, such as laravel-queue-overlap:*}
        {--foreign : In Redis also locks of the framework whose holders have no Latch}
        {--json : For programs}
        {--watch= : Look again after so many seconds, until Ctrl-C}';

    protected $description = 'Show which cache locks are held, by whom, and how many wait for them';

    public function handle(Inspectors $inspectors): int
    {
        $every = $this->option('watch');
        if ($every !== null && ($this->option('json') || !is_numeric($every) || $every < 0.1 || $every > 86400)) {
            $this->components->error('--watch takes seconds, from 0.1 to 86400, and does not go with --json.');

            return self::INVALID;
        }
        do {
            $status = $this->show($inspectors);
            if ($every === null || $status !== self::SUCCESS) {
                return $status;
            }
            usleep((int) (1e6 * $every));
        } while (true);
    }

    private function show(Inspectors $inspectors): int
    {
        try {
            $inspector = $inspectors->of($this->argument('store'));
        } catch (\InvalidArgumentException $e) {
            $this->components->error(OutputFormatter::escape($e->getMessage()));

            return self::INVALID;
        }
        try {
            $locks = $this->locks($inspector);
        } catch (\Exception $e) {
            $store = $this->argument('store') ?? $this->laravel['config']['cache.default'];
            $this->components->error(OutputFormatter::escape("Store \"$store\": {$e->getMessage()}"));

            return self::FAILURE;
        }
        match (true) {
            $this->option('json') => $this->output->writeln(json_encode(
                $locks,
                \JSON_PRETTY_PRINT | \JSON_UNESCAPED_SLASHES | \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_THROW_ON_ERROR,
            ), OutputInterface::OUTPUT_RAW),
            $locks === [] => $this->components->info('No lock is held.'),
            default => $this->table(
                ['Name', 'Holder', 'Process', 'Held for', 'Ends in', 'Waiting'],
                array_map(self::row(...), $locks),
            ),
        };

        return self::SUCCESS;
    }

    /**
     * @return list<HeldLock> in the order of names
     */
    private function locks(Inspector $inspector): array
    {
        $patterns = $this->option('pattern');
        // One lock is asked for without a look at all the others.
        if (\count($patterns) === 1 && !str_contains($patterns[0], '*')) {
            return array_values(array_filter([$inspector->find($patterns[0])]));
        }
        $locks = [];
        foreach ($inspector->held($this->option('foreign')) as $lock) {
            if ($patterns === [] || Str::is($patterns, $lock->name)) {
                $locks[] = $lock;
            }
        }
        usort($locks, static fn (HeldLock $a, HeldLock $b): int => $a->name <=> $b->name);

        return $locks;
    }

    /**
     * @return list<string>
     */
    private static function row(HeldLock $lock): array
    {
        return array_map(static fn (string $text): string => OutputFormatter::escape(self::plain($text)), [
            $lock->name,
            $lock->holder ?? ($lock->owner === null ? 'not on Latch' : "owner $lock->owner"),
            $lock->host === null ? '-' : "$lock->pid on $lock->host",
            $lock->since === null ? '-' : self::span(microtime(true) - $lock->since),
            $lock->remaining === null ? 'never' : self::span($lock->remaining),
            (string) ($lock->waiters ?? '-'),
        ]);
    }

    /** "12 s", "3 h 5 min" */
    private static function span(float $seconds): string
    {
        $whole = (int) max(0, round($seconds));

        return match (true) {
            $whole < 120 => "$whole s",
            $whole < 7200 => intdiv($whole, 60) . ' min',
            $whole < 172800 => intdiv($whole, 3600) . ' h ' . intdiv($whole, 60) % 60 . ' min',
            default => intdiv($whole, 86400) . ' days',
        };
    }

    /** Without control characters, as others chose the text. */
    private static function plain(string $text): string
    {
        return (string) preg_replace('/[\p{Cc}\p{Cf}]/u', '?', mb_scrub($text, 'UTF-8'));
    }
}
