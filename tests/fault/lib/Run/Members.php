<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Worker\Worker;
use Latch\Tests\RedisServer;
use Random\Randomizer;

/**
 * What is done to the members of a quorum, to one at a time, so that the others are a majority.
 */
final class Members
{
    /** For how long a member is dead or stopped, in ms: some locks run out meanwhile. */
    private const TROUBLE = [20, 2 * Worker::SHORT_TTL];

    /**
     * A member that was started since then, in ns, may have forgotten a lock: Latch does without it while the others are
     * enough, so that these must be there. It goes by whole seconds.
     */
    private const YOUTH = (Worker::LONG_TTL + 1_200) * 1_000_000;

    /** Member that was restarted last; null: all were started at the same time. */
    private ?RedisServer $young = null;
    private int $youngUntil;
    private ?RedisServer $troubled = null;
    private Fault $fault;
    private int $since = 0;
    private int $until = 0;

    /** @param list<RedisServer> $servers which keep on disk what they have, so as not to forget what they promised */
    public function __construct(
        private readonly array $servers,
        private readonly Writer $records,
        /** whether it is always the same one: others may have forgotten locks that are renewed */
        private readonly bool $isOneOnly = false,
    ) {
        $this->youngUntil = hrtime(true) + self::YOUTH;
    }

    /** No fault while one of the members is in trouble; and while one is young, only faults of that one. */
    public function strike(Fault $fault, Randomizer $chance): void
    {
        $server = $this->servers[$this->isOneOnly ? 0 : $chance->getInt(0, \count($this->servers) - 1)];
        if (hrtime(true) < $this->youngUntil) {
            $server = $this->young;
            $fault = $fault === Fault::MemberKill ? Fault::MemberStop : $fault;
        }
        if ($this->troubled !== null || $server === null) {
            return;
        }
        $this->fault = $fault;
        $this->since = $this->until = (int) hrtime(true);
        $this->troubled = $server;
        match ($fault) {
            Fault::MemberKill => $server->stop(),
            Fault::MemberStop => $server->freeze(),
            Fault::MemberCut => $server->command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
            default => throw new \LogicException("No fault of a member: $fault->value"),
        };
        if ($this->isLasting()) {
            $this->until += $chance->getInt(...self::TROUBLE) * 1_000_000;
        }
        $this->recover((int) hrtime(true));
    }

    public function isInTrouble(): bool
    {
        return $this->troubled !== null;
    }

    /** Ends what is over by then. */
    public function recover(int $due): void
    {
        if ($this->troubled === null || $this->until > $due) {
            return;
        }
        match ($this->fault) {
            Fault::MemberKill => $this->troubled->start(),
            Fault::MemberStop => $this->troubled->thaw(),
            default => null,
        };
        $index = (int) array_search($this->troubled, $this->servers, true);
        $this->records->write($this->fault->value, $this->since, Faults::ALL, (int) hrtime(true), $index);
        if ($this->fault === Fault::MemberKill) {
            $this->young = $this->troubled;
            $this->youngUntil = hrtime(true) + self::YOUTH;
        }
        $this->troubled = null;
    }

    private function isLasting(): bool
    {
        return $this->fault === Fault::MemberKill || $this->fault === Fault::MemberStop;
    }
}
