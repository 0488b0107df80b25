<?php

declare(strict_types=1);

namespace Latch\Demo;

use RuntimeException;
use Throwable;

/**
 * One run of all workers, with the lock or without it.
 */
final class Run
{
    public const SIGNALS = [SIGHUP, SIGINT, SIGTERM];

    /** @var array<int, resource> by process id: where its reports come in */
    private array $workers = [];

    /** @var array<int, Report> by process id: the latest report */
    private array $reports = [];

    public function __construct(
        private readonly string $folder,
        private readonly Screen $screen,
    ) {
    }

    public function go(int $workers, int $bookings, bool $locked): Result
    {
        $balance = new Balance("$this->folder/balance");
        $balance->open();
        $this->screen->begin($bookings);

        try {
            for ($i = 0; $i < $workers; ++$i) {
                // As even as it goes: the first ones take what is left over.
                $share = intdiv($bookings, $workers) + ($i < $bookings % $workers ? 1 : 0);
                $this->start($share, $locked);
            }
            while ($this->workers !== []) {
                $this->listen();
                $this->screen->progress($this->bookings());
            }
        } finally {
            $this->endAll();
        }
        $this->screen->finish($this->bookings());

        return new Result(
            array_reduce(
                $this->reports,
                static fn (Tally $sum, Report $report): Tally => $sum->plus($report->booked),
                new Tally(),
            ),
            $balance->read(),
            array_sum(array_column($this->reports, 'overlaps')),
        );
    }

    /** @return list<int> how many bookings each worker has made */
    private function bookings(): array
    {
        return array_values(array_map(
            static fn (Report $report): int => $report->booked->bookings,
            $this->reports,
        ));
    }

    private function start(int $share, bool $locked): void
    {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        if ($pair === false) {
            throw new RuntimeException('No socket for a worker.');
        }

        // Blocked until the child has its own handlers and the parent has its id: a signal in
        // between would make the child clean up for the parent, or the parent forget the child.
        pcntl_sigprocmask(SIG_BLOCK, self::SIGNALS);
        $pid = pcntl_fork();
        if ($pid === 0) {
            $this->becomeWorker($share, $locked, $pair[1]);
        }
        fclose($pair[1]);
        if ($pid > 0) {
            $this->workers[$pid] = $pair[0];
            $this->reports[$pid] = new Report();
        }
        pcntl_sigprocmask(SIG_UNBLOCK, self::SIGNALS);

        if ($pid < 0) {
            throw new RuntimeException('No process for a worker.');
        }
    }

    /** @param resource $parent */
    private function becomeWorker(int $share, bool $locked, $parent): never
    {
        // Ctrl-C reaches the whole process group; it is the parent that ends its workers.
        pcntl_signal(SIGINT, SIG_IGN);
        pcntl_signal(SIGHUP, SIG_DFL);
        pcntl_signal(SIGTERM, SIG_DFL);
        pcntl_sigprocmask(SIG_UNBLOCK, self::SIGNALS);
        array_map('fclose', $this->workers);

        try {
            (new Worker($this->folder))->run($share, $locked, $parent);
            exit(0);
        } catch (Throwable $error) {
            fprintf(STDERR, "worker %d: %s: %s\n", getmypid(), $error::class, $error->getMessage());
            exit(1);
        }
    }

    /** Waits a moment for reports, and for the end of workers that are done. */
    private function listen(): void
    {
        $readable = $this->workers;
        $none = null;
        if (!@stream_select($readable, $none, $none, 0, 100_000)) {
            return;
        }
        foreach ($readable as $pid => $stream) {
            $line = fgets($stream);
            if ($line !== false) {
                $this->reports[$pid] = Report::fromLine($line);
                continue;
            }
            pcntl_waitpid($pid, $status);
            fclose($stream);
            unset($this->workers[$pid]);
            if ($status !== 0) {
                throw new RuntimeException("Worker $pid failed.");
            }
        }
    }

    /** After an error or a signal: no worker stays behind. */
    private function endAll(): void
    {
        foreach (array_keys($this->workers) as $pid) {
            posix_kill($pid, SIGTERM);
        }
        foreach ($this->workers as $pid => $stream) {
            pcntl_waitpid($pid, $status);
            fclose($stream);
        }
        $this->workers = [];
    }
}
