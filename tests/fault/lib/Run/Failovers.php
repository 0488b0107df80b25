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
 * Sentinels know of another master: who is answered by the old one later must not believe it.
 */
final class Failovers
{
    /** How often is looked, in ns. */
    private const LOOK = 20_000_000;
    /** After which time it hangs, in ns. */
    private const PATIENCE = 60_000_000_000;

    /** How many are over. */
    public int $count = 0;
    /** Who was the master; null: another one is. */
    private ?RedisServer $old = null;
    private bool $isHealthy = true;
    private Fault $fault;
    private int $since = 0;
    private int $nextLook = 0;

    public function __construct(private readonly RedisTrio $trio, private readonly Writer $records)
    {
    }

    public function strike(Fault $fault): void
    {
        $master = $this->old === null && $this->isHealthy ? $this->trio->master() : null;
        if ($master === null) {
            return;
        }
        $since = (int) hrtime(true);
        if (!$this->trio->isReplicated($master)) {
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
        if ($this->old !== null && $this->trio->isLedByAnother($this->old)) {
            $this->records->write($this->fault->value, $this->since, Faults::ALL, (int) hrtime(true));
            match ($this->fault) {
                Fault::MasterKill => $this->old->start(),
                Fault::MasterStop => $this->old->thaw(),
                default => null,
            };
            $this->old = null;
            ++$this->count;
        } elseif ($this->old === null && !$this->isHealthy) {
            $this->isHealthy = $this->trio->isHealthy();
        }
    }
}
