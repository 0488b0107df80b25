<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\RedisServer;
use Random\Randomizer;

/**
 * Times in which the server is silent, or so many of several that the others are no majority: many are longer
 * than the TTLs of locks that are kept alive.
 */
final class Silence
{
    /** In ms. */
    private const LENGTH = [50, 1200];
    /** Before that, in ns, a majority answers: it is to be seen that nothing is lost that they renew. */
    private const CALM = 8_000_000_000;

    private ?Fault $fault = null;
    private int $since = 0;
    private int $until = 0;
    private readonly int $calmUntil;

    /** @var list<RedisServer> */
    private array $silent = [];

    /** @param non-empty-list<RedisServer> $servers */
    public function __construct(private readonly array $servers, private readonly Writer $records)
    {
        $this->calmUntil = (int) hrtime(true) + (\count($servers) > 1 ? self::CALM : 0);
    }

    /** The servers cannot be reached meanwhile. */
    public function lasts(): bool
    {
        return $this->fault !== null;
    }

    public function begin(Fault $fault, Randomizer $chance): void
    {
        if (hrtime(true) < $this->calmUntil) {
            return;
        }
        $length = $chance->getInt(...self::LENGTH);
        $majority = intdiv(\count($this->servers), 2) + 1;
        $this->silent = \array_slice($chance->shuffleArray($this->servers), 0, $majority);
        $before = (int) hrtime(true);
        foreach ($this->silent as $server) {
            match ($fault) {
                Fault::ServerStop => $server->freeze(),
                Fault::ClientPause => $server->command('CLIENT', 'PAUSE', $length),
                default => throw new \LogicException("No silence: $fault->value"),
            };
        }
        if ($fault === Fault::ServerStop) {
            foreach ($this->silent as $server) {
                Standstill::await($server->pid());
            }
        }
        $this->fault = $fault;
        // What is recorded is when they were silent for certain.
        $this->since = (int) hrtime(true);
        $this->until = $before + $length * 1_000_000;
    }

    /** Ends it if it is over by then. */
    public function end(int $due): void
    {
        if ($this->fault === null || $this->until > $due) {
            return;
        }
        $end = $this->until;
        if ($this->fault === Fault::ServerStop) {
            $end = (int) hrtime(true);
            foreach ($this->silent as $server) {
                $server->thaw();
            }
        }
        $this->records->write($this->fault->value, $this->since, Faults::ALL, max($this->since, $end));
        $this->fault = null;
    }
}
