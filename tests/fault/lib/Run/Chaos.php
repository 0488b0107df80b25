<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Worker\Worker;
use Latch\Tests\RedisServer;
use Random\Engine\Mt19937;
use Random\Randomizer;

/**
 * Disturbs the workers and their server at random times, and records it.
 */
final class Chaos
{
    /** The longest pauses between two faults and of a server, in ms. */
    private const PAUSE = 200;
    private const CLIENT_PAUSE = 40;

    private readonly Randomizer $chance;
    private int $next;
    /** @var array<string, int> when stopped workers go on, by their names */
    private array $continue = [];

    public function __construct(
        int $seed,
        private readonly Writer $records,
        private readonly ?RedisServer $server,
    ) {
        $this->chance = new Randomizer(new Mt19937($seed));
        $this->next = hrtime(true);
    }

    /** @param array<string, Process> $workers those that run, by their names */
    public function strike(array $workers): void
    {
        $this->continueStopped($workers, hrtime(true));
        if (hrtime(true) < $this->next) {
            return;
        }
        $this->next = hrtime(true) + $this->chance->getInt(0, self::PAUSE) * 1_000_000;
        $fault = $this->choose();
        $running = array_filter($workers, static fn (Process $worker): bool => !$worker->stopped);
        // Most go on, or nobody is left to contend.
        if (\in_array($fault, [Fault::Kill, Fault::Stop], true) && \count($running) * 2 <= \count($workers)) {
            return;
        }
        match ($fault) {
            Fault::Kill, Fault::Stop => $this->signal($fault, $running),
            Fault::ScriptFlush => $this->command($fault, 'SCRIPT', 'FLUSH'),
            Fault::ClientKill => $this->cut(),
            Fault::ClientPause =>
                $this->command($fault, 'CLIENT', 'PAUSE', $this->chance->getInt(1, self::CLIENT_PAUSE), 'ALL'),
            Fault::Continue => throw new \LogicException(),
        };
    }

    /**
     * Lets go on who is due, or all.
     *
     * @param array<string, Process> $workers
     */
    public function continueStopped(array $workers, int $due = \PHP_INT_MAX): void
    {
        foreach ($this->continue as $name => $time) {
            if ($time <= $due) {
                unset($this->continue[$name]);
                if (isset($workers[$name])) {
                    $this->records->write(Fault::Continue->value, hrtime(true), $name);
                    $workers[$name]->signal(SIGCONT);
                    $workers[$name]->stopped = false;
                }
            }
        }
    }

    private function choose(): Fault
    {
        $percent = $this->chance->getInt(1, 100);

        return match (true) {
            $percent <= 25 => Fault::Kill,
            $percent <= 60 || $this->server === null => Fault::Stop,
            $percent <= 75 => Fault::ScriptFlush,
            $percent <= 88 => Fault::ClientKill,
            default => Fault::ClientPause,
        };
    }

    /** @param array<string, Process> $workers */
    private function signal(Fault $fault, array $workers): void
    {
        $name = array_keys($workers)[$this->chance->getInt(0, \count($workers) - 1)];
        $this->records->write($fault->value, hrtime(true), $name);
        if ($fault === Fault::Kill) {
            $workers[$name]->signal(SIGKILL);

            return;
        }
        $workers[$name]->signal(SIGSTOP);
        $workers[$name]->stopped = true;
        // For some too short to matter, for others longer than most TTLs.
        $this->continue[$name] = (int) hrtime(true) + $this->chance->getInt(10, 2 * Worker::SHORT_TTL) * 1_000_000;
    }

    /** One connection, or all but our own. */
    private function cut(): void
    {
        $clients = $this->server?->clients() ?? [];
        if ($clients === []) {
            return;
        }
        if ($this->chance->getInt(1, 4) === 1) {
            $this->command(Fault::ClientKill, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        } else {
            $client = $clients[$this->chance->getInt(0, \count($clients) - 1)];
            $this->command(Fault::ClientKill, 'CLIENT', 'KILL', 'ID', $client);
        }
    }

    private function command(Fault $fault, string|int ...$command): void
    {
        $this->records->write($fault->value, hrtime(true));
        $this->server?->command(...$command);
    }
}
