<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\RedisServer;
use Latch\Tests\RedisTrio;

/**
 * What is done to a master that has replicas and Sentinels; from one to the next all are in step again.
 *
 * What is recorded is from when on answers may be lost, which is when replicas have acknowledged all, until all
 * Sentinels know of another master: later answers of the old one must not be believed. Sentinels may change
 * the master by themselves, too, when they have not heard of it for long.
 */
final class Failovers
{
    /** How often is looked, in ns. */
    private const LOOK = 20_000_000;
    /** After which time it hangs, in ns. */
    private const PATIENCE = 60_000_000_000;

    /** Time in ns before an unplanned change, in which the replicas may not be in step. */
    private const LAG = 1_000_000_000;

    /** How many are over. */
    public int $count = 0;
    /** Former master; null: another one is. */
    private ?RedisServer $old = null;
    private bool $isHealthy = true;
    private Fault $fault;
    private int $since = 0;
    private int $nextLook = 0;
    /** Master when all was well last, and that time. */
    private ?RedisServer $master;
    private int $calm;

    public function __construct(private readonly RedisTrio $trio, private readonly Writer $records)
    {
        [$this->master, $this->calm] = [$trio->awaitMaster(), (int) hrtime(true)];
    }

    public function strike(Fault $fault): void
    {
        $master = $this->trio->master();
        $since = (int) hrtime(true);
        if (
            $this->old !== null || !$this->isHealthy || $master === null || $master !== $this->master
            || !$this->trio->isReplicated($master) || !$this->trio->isCalm()
        ) {
            return;
        }
        match ($fault) {
            Fault::Failover => $this->trio->beginFailOver(),
            Fault::MasterKill => $master->stop(),
            Fault::MasterStop => $master->freeze(),
            default => throw new \LogicException("No failover: $fault->value"),
        };
        [$this->old, $this->fault, $this->since, $this->isHealthy] = [$master, $fault, $since, false];
    }

    /** Looks how it goes; or sees it over. */
    public function recover(bool $isEnd): void
    {
        $end = hrtime(true) + self::PATIENCE;
        do {
            if (hrtime(true) >= $this->nextLook) {
                $this->nextLook = (int) hrtime(true) + self::LOOK;
                $this->look();
            }
            if (hrtime(true) > $end) {
                throw new \LogicException('No failover for long');
            }
        } while ($isEnd && $this->old !== null && usleep(1000) === null);
    }

    private function look(): void
    {
        $now = (int) hrtime(true);
        if (!$this->trio->isCalm() || !$this->trio->isLedByAnother($this->old)) {
            return;
        }
        [$before, $this->master] = [$this->master, $this->trio->master()];
        if ($this->old !== null) {
            $this->records->write($this->fault->value, $this->since, Faults::ALL, (int) hrtime(true));
            match ($this->fault) {
                Fault::MasterKill => $this->old->start(),
                Fault::MasterStop => $this->old->thaw(),
                default => null,
            };
            $this->old = null;
            ++$this->count;
        } elseif ($this->master !== $before) {
            $this->records->write(Fault::Failover->value, $this->calm - self::LAG, Faults::ALL, (int) hrtime(true));
        } elseif (!$this->isHealthy) {
            $this->isHealthy = $this->trio->isHealthy();
        }
        $this->calm = $now;
    }
}
