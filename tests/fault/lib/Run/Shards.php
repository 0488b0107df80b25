<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\RedisClusterServers;
use Latch\Tests\RedisServer;
use Random\Randomizer;

/**
 * What is done to a Redis Cluster: a master is replaced by its replica, or the slot of a lock moves to another master,
 * one thing at a time; from one to the next all know each other again, and replicas are in step.
 *
 * What is recorded is from when until when what a master has answered may be lost, for the locks that it had: from when
 * its replica had acknowledged all, until it knows itself that another one has its slots. A move loses nothing, nor
 * does a handover; while they last, nothing need be answered.
 */
final class Shards
{
    /** How often is looked, in ns. */
    private const LOOK = 50_000_000;
    /** After which time it hangs, in ns. */
    private const PATIENCE = 60_000_000_000;
    /** Time in ns before an unplanned change, in which the replica may not be in step. */
    private const LAG = 1_000_000_000;
    /** After so long a handover has failed that did not come about, in ns. */
    private const HANDOVER = 6_000_000_000;
    /** From one key to the next, in ms: mostly for less than the TTLs, … */
    private const STEP = [0, 40];
    /** … and for so many in a hundred beyond them. */
    private const LONG_STEPS = 5;
    private const LONG_STEP = [300, 700];
    /** Of a hundred masters that die or hang so many are replaced at once; the others when the cluster has noticed. */
    private const TAKEOVERS = 70;

    /** How many are over. */
    public int $failovers = 0;
    public int $moves = 0;

    /** What is going on: a slot moves to the other one, or that takes over. */
    private ?Fault $fault = null;
    private RedisServer $from;
    private RedisServer $to;
    private int $slot = 0;
    private int $since = 0;
    /** The locks that may lose something. */
    private string $locks = '';
    private bool $isReplaced = false;
    private int $nextLook = 0;
    private int $retry = 0;
    /** @var list<RedisServer> masters of the pairs when all was well last … */
    private array $leaders;
    /** … and when that was. */
    private int $calm;

    /** @param non-empty-list<string> $resources the locks that are used */
    public function __construct(
        private readonly RedisClusterServers $cluster,
        private readonly array $resources,
        private readonly Writer $records,
        private readonly Randomizer $chance,
        /** whether nothing is done by which anything may be lost */
        private readonly bool $movesOnly,
    ) {
        [$this->leaders, $this->calm] = [$this->leaders(), (int) hrtime(true)];
    }

    public function choose(): Fault
    {
        $percent = $this->chance->getInt(1, 100);

        return match (true) {
            $this->movesOnly, $percent <= 60 => Fault::SlotMove,
            $percent <= 74 => Fault::Handover,
            $percent <= 87 => Fault::MasterKill,
            default => Fault::MasterStop,
        };
    }

    public function strike(Fault $fault): void
    {
        if ($this->fault !== null || !$this->isCalm()) {
            return;
        }
        $resource = $this->resources[$this->chance->getInt(0, \count($this->resources) - 1)];
        $this->slot = $this->cluster->slotOf($resource);
        $this->from = $this->cluster->masterOfSlot($this->slot);
        $this->since = (int) hrtime(true);
        if ($fault === Fault::SlotMove) {
            $others = array_values(array_filter(
                $this->leaders,
                fn (RedisServer $master): bool => $master !== $this->from,
            ));
            $this->to = $others[$this->chance->getInt(0, \count($others) - 1)];
            $this->cluster->beginMove($this->slot, $this->to);
        } elseif (!$this->beginFailover($fault)) {
            return;
        }
        $this->fault = $fault;
    }

    /** Looks how it goes; or sees it over. */
    public function recover(bool $isEnd): void
    {
        $end = hrtime(true) + self::PATIENCE;
        do {
            $now = (int) hrtime(true);
            if ($now >= $this->nextLook) {
                $this->nextLook = $now + self::LOOK;
                match ($this->fault) {
                    null => $this->isCalm(),
                    Fault::SlotMove => $this->moveOn($now),
                    default => $this->failOver($now),
                };
            }
            if ($now > $end) {
                throw new \LogicException("No end of a {$this->fault?->value} for long");
            }
        } while ($isEnd && ($this->fault !== null || !$this->isCalm()) && usleep(1000) === null);
    }

    private function beginFailover(Fault $fault): bool
    {
        if (!$this->cluster->isReplicated($this->from)) {
            return false;
        }
        $this->locks = $this->locksOf($this->from);
        $this->to = $this->cluster->replicaOf($this->from) ?? throw new \LogicException('A master without replica');
        $this->isReplaced = false;
        $this->retry = $this->since + self::HANDOVER;
        match ($fault) {
            Fault::Handover => $this->cluster->beginFailOver($this->from),
            Fault::MasterKill => $this->from->stop(),
            Fault::MasterStop => $this->from->freeze(),
            default => throw new \LogicException("Nothing for a cluster: $fault->value"),
        };
        if ($fault !== Fault::Handover && $this->chance->getInt(1, 100) <= self::TAKEOVERS) {
            $this->cluster->beginFailOver($this->from, 'TAKEOVER');
        }

        return true;
    }

    private function moveOn(int $now): void
    {
        if ($this->cluster->moveKey($this->slot, $this->from, $this->to)) {
            $isLong = $this->chance->getInt(1, 100) <= self::LONG_STEPS;
            $this->nextLook = $now + $this->chance->getInt(...$isLong ? self::LONG_STEP : self::STEP) * 1_000_000;

            return;
        }
        $this->cluster->endMove($this->slot, $this->from, $this->to);
        $this->records->write(Fault::SlotMove->value, $this->since, Faults::ALL, (int) hrtime(true));
        $this->fault = null;
        ++$this->moves;
    }

    private function failOver(int $now): void
    {
        if (!$this->isReplaced) {
            if (!$this->cluster->isReplacedBy($this->from, $this->to)) {
                if ($this->fault === Fault::Handover && $now > $this->retry) {
                    $this->cluster->beginFailOver($this->from);
                    $this->retry = $now + self::HANDOVER;
                }

                return;
            }
            match ($this->fault) {
                Fault::MasterKill => $this->from->start(),
                Fault::MasterStop => $this->from->thaw(),
                default => null,
            };
            $this->isReplaced = true;
        }
        if ($this->fault === null || $this->cluster->isMaster($this->from)) {
            return;
        }
        $locks = $this->fault->switchesMaster() ? [$this->locks] : [];
        $this->records->write($this->fault->value, $this->since, Faults::ALL, (int) hrtime(true), ...$locks);
        $this->leaders[(int) array_search($this->from, $this->leaders, true)] = $this->to;
        $this->fault = null;
        ++$this->failovers;
    }

    /** Whether all is well; if a replica has taken over of its own accord, that is recorded. */
    private function isCalm(): bool
    {
        $now = (int) hrtime(true);
        if (!$this->cluster->isWhole()) {
            return false;
        }
        foreach ($this->leaders() as $pair => $leader) {
            if ($leader === $this->leaders[$pair]) {
                continue;
            }
            $locks = $this->locksOf($leader);
            if ($locks !== '') {
                $since = $this->calm - self::LAG;
                $this->records->write(Fault::Failover->value, $since, Faults::ALL, (int) hrtime(true), $locks);
            }
            $this->leaders[$pair] = $leader;
        }
        $this->calm = $now;

        return true;
    }

    /** @return list<RedisServer> the master of each pair of servers */
    private function leaders(): array
    {
        return array_map(
            fn (RedisServer $one, RedisServer $other): RedisServer => $this->cluster->isMaster($one) ? $one : $other,
            $this->cluster->masters,
            $this->cluster->replicas,
        );
    }

    /** The locks that a master has, separated by commas. */
    private function locksOf(RedisServer $master): string
    {
        return implode(',', array_filter(
            $this->resources,
            fn (string $resource): bool => $this->cluster->masterOf($resource) === $master,
        ));
    }
}
