<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
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
    /** The longest pause of a server, in ms. */
    private const CLIENT_PAUSE = 40;
    /** For how long workers are stopped, in ms: for some too short to matter, for others longer than most TTLs … */
    private const SHORT_STOP = [10, 2 * Worker::SHORT_TTL];
    /** … and of so many in a hundred for longer than a lock is a waiter's that does not claim it. */
    private const LONG_STOPS = 20;
    private const LONG_STOP = [1000, 2500];

    /** The same where TTLs are whole seconds and rows last for another one. */
    private const SECONDS_STOPS = 40;
    private const SECONDS_STOP = [1000, 3500];

    private readonly Randomizer $chance;
    private int $next;
    /** @var array<string, int> when stopped workers go on, by their names */
    private array $continue = [];

    public function __construct(
        int $seed,
        /** the longest time between two faults, in ms */
        private readonly int $pause,
        private readonly Writer $records,
        private readonly ?RedisServer $server,
        private readonly ?Database $database,
        private readonly ?Members $members,
        /** whether workers may be stopped: a worker that is stopped in the middle of its work must not block others */
        private readonly bool $stops = true,
        /** whether those are spared that are about to change a table that others have to read */
        private readonly bool $sparesTables = false,
        /** what makes a server silent for so long that kept locks are lost; null: nothing does */
        private readonly ?Silence $silence = null,
        private readonly ?Failovers $failovers = null,
        private readonly ?Shards $shards = null,
        /** whether TTLs are whole seconds, beyond which more workers are stopped */
        private readonly bool $countsSeconds = false,
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
        $this->next = hrtime(true) + $this->chance->getInt(0, $this->pause) * 1_000_000;
        $fault = $this->choose();
        $running = array_filter($workers, static fn (Process $worker): bool => !$worker->stopped);
        // Most go on, or no workers are left to contend.
        if (\in_array($fault, [Fault::Kill, Fault::Stop], true) && \count($running) * 2 <= \count($workers)) {
            return;
        }
        if ($this->silence?->lasts() === true && !\in_array($fault, [Fault::Kill, Fault::Stop], true)) {
            return;
        }
        match ($fault) {
            Fault::Kill, Fault::Stop => $this->signal($fault, $running),
            Fault::MemberKill, Fault::MemberStop, Fault::MemberCut => $this->members?->strike($fault, $this->chance),
            Fault::Failover, Fault::MasterKill, Fault::MasterStop, Fault::Handover, Fault::SlotMove =>
                ($this->failovers ?? $this->shards)?->strike($fault),
            Fault::ScriptFlush => $this->serve($fault, fn () => $this->server?->command('SCRIPT', 'FLUSH')),
            Fault::FlushAll => $this->serve($fault, fn () => $this->server?->command('FLUSHALL')),
            Fault::ClientPause => $this->silence !== null ? $this->silenceAll($fault) : $this->serve(
                $fault,
                fn () => $this->server?->command('CLIENT', 'PAUSE', $this->chance->getInt(1, self::CLIENT_PAUSE)),
            ),
            Fault::Restart => $this->serve(
                $fault,
                fn () => $this->database !== null ? $this->database->crash() : $this->server?->restartWithData(),
            ),
            Fault::EmptyRestart => $this->serve($fault, fn () => $this->server?->restart()),
            Fault::ClientKill => $this->cut($fault, 'normal', $workers),
            Fault::SubscriptionKill => $this->cut($fault, 'pubsub', $workers),
            Fault::SessionKill, Fault::ConnectionKill => $this->endSessions($fault, $workers),
            Fault::Crash => $this->serve($fault, fn () => $this->database?->crash()),
            Fault::ServerStop => $this->silenceAll($fault),
            Fault::Continue, Fault::Stall => throw new \LogicException(),
        };
    }

    /**
     * Continues stopped workers and servers that are due, or all.
     *
     * @param array<string, Process> $workers
     */
    public function continueStopped(array $workers, int $due = \PHP_INT_MAX): void
    {
        $this->members?->recover($due);
        ($this->failovers ?? $this->shards)?->recover($due === \PHP_INT_MAX);
        $this->silence?->end($due);
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
            $percent <= 25, !$this->stops => Fault::Kill,
            $percent <= 55 => Fault::Stop,
            $this->silence !== null && $percent <= 62 => Fault::ServerStop,
            $this->failovers !== null => match (true) {
                $percent <= 70 => Fault::Failover,
                $percent <= 85 => Fault::MasterKill,
                default => Fault::MasterStop,
            },
            $this->shards !== null => $this->shards->choose(),
            $this->members !== null => match (true) {
                $percent <= 75 => Fault::MemberKill,
                $percent <= 92 => Fault::MemberStop,
                default => Fault::MemberCut,
            },
            $this->database?->isTable === true => $percent <= 97 ? Fault::ConnectionKill : Fault::Restart,
            $this->database !== null => $percent <= 97 ? Fault::SessionKill : Fault::Crash,
            $this->server === null => Fault::Stop,
            $this->silence !== null => match (true) {
                $percent <= 68 => Fault::ScriptFlush,
                $percent <= 84 => Fault::ClientKill,
                $percent <= 87 => Fault::SubscriptionKill,
                $percent <= 92 => Fault::ClientPause,
                $percent <= 95 => Fault::FlushAll,
                $percent <= 98 => Fault::Restart,
                default => Fault::EmptyRestart,
            },
            $percent <= 63 => Fault::ScriptFlush,
            $percent <= 75 => Fault::ClientKill,
            $percent <= 89 => Fault::SubscriptionKill,
            $percent <= 96 => Fault::ClientPause,
            $percent <= 98 => Fault::FlushAll,
            $percent <= 99 => Fault::Restart,
            default => Fault::EmptyRestart,
        };
    }

    /** @param array<string, Process> $workers */
    private function signal(Fault $fault, array $workers): void
    {
        $name = array_keys($workers)[$this->chance->getInt(0, \count($workers) - 1)];
        if ($fault === Fault::Kill) {
            $this->records->write($fault->value, hrtime(true), $name);
            $workers[$name]->signal(SIGKILL);

            return;
        }
        $workers[$name]->signal(SIGSTOP);
        $workers[$name]->stopped = true;
        Standstill::await($workers[$name]->pid);
        if ($this->sparesTables && Standstill::isWithin($workers[$name]->pid)) {
            $workers[$name]->signal(SIGCONT);
            $workers[$name]->stopped = false;

            return;
        }
        $this->records->write($fault->value, hrtime(true), $name);
        [$long, $longStop] = $this->countsSeconds
            ? [self::SECONDS_STOPS, self::SECONDS_STOP]
            : [self::LONG_STOPS, self::LONG_STOP];
        [$least, $most] = $this->chance->getInt(1, 100) <= $long ? $longStop : self::SHORT_STOP;
        $this->continue[$name] = (int) hrtime(true) + $this->chance->getInt($least, $most) * 1_000_000;
    }

    /**
     * Connections of one worker's, or of all.
     *
     * @param array<string, Process> $workers
     */
    private function cut(Fault $fault, string $type, array $workers): void
    {
        $name = $this->chance->getInt(1, 10) === 1
            ? null
            : array_keys($workers)[$this->chance->getInt(0, \count($workers) - 1)];
        $time = hrtime(true);
        $whose = $name === null ? [] : ['USER', $workers[$name]->user()];
        $killed = $this->server?->command('CLIENT', 'KILL', 'TYPE', $type, 'SKIPME', 'yes', ...$whose);
        if ($killed > 0) {
            $this->records->write($fault->value, $time, $name ?? Faults::ALL, hrtime(true));
        }
    }

    /** @param array<string, Process> $workers */
    private function endSessions(Fault $fault, array $workers): void
    {
        $name = array_keys($workers)[$this->chance->getInt(0, \count($workers) - 1)];
        $time = hrtime(true);
        if ($this->database?->endSessions($workers[$name]->user()) === true) {
            $this->records->write($fault->value, $time, $name, hrtime(true));
        }
    }

    private function silenceAll(Fault $fault): void
    {
        if ($this->members?->isInTrouble() !== true) {
            $this->silence?->begin($fault, $this->chance);
        }
    }

    private function serve(Fault $fault, \Closure $strike): void
    {
        $time = hrtime(true);
        $strike();
        $this->records->write($fault->value, $time, Faults::ALL, hrtime(true));
    }
}
