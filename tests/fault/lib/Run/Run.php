<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Worker\Worker;
use Latch\Tests\RedisServer;

require_once \dirname(__DIR__, 3) . '/utils/redis.inc';

/**
 * Lets workers contend, disturbs them, and leaves their records in a folder.
 */
final class Run
{
    /** How the names of those begin that look at the end whether all is free. */
    public const PROBE = 'probe-';
    /** Seconds after which a worker that was told to end has hung. */
    private const PATIENCE = 30;
    /** So much of what a worker said is repeated. */
    private const SAID = 1000;
    /** After so many crashes there is no point in going on. */
    private const ENOUGH = 5;

    private readonly Writer $records;
    private readonly ?RedisServer $server;
    /** @var array<string, Process> those that run, by their names */
    private array $workers = [];
    private int $started = 0;
    private int $granted = 0;
    private int $crashes = 0;
    /** What workers said though they have nothing to say. */
    public string $errors = '';

    /** @param string $directory an empty one */
    public function __construct(private readonly Options $options, private readonly string $directory)
    {
        $this->records = new Writer("$directory/" . Faults::FILE);
        $this->server = $options->store === 'redis' && $options->latch + $options->symfony > 0
            ? new RedisServer()
            : null;
        mkdir("$directory/locks");
    }

    /** @return bool whether there were as many acquisitions as were asked for */
    public function play(): bool
    {
        $end = hrtime(true) + $this->options->limit * 1_000_000_000;
        $chaos = $this->options->faults
            ? new Chaos($this->options->seed, $this->records, $this->server)
            : null;
        do {
            $this->fill();
            $chaos?->strike($this->workers);
            $this->count();
            $this->reap();
            usleep(1000);
        } while (
            $this->granted < $this->options->acquisitions && $this->crashes < self::ENOUGH && hrtime(true) < $end
        );

        $chaos?->continueStopped($this->workers);
        foreach ($this->workers as $worker) {
            $worker->signal(SIGTERM);
        }
        $this->join();
        $this->probe();

        return $this->granted >= $this->options->acquisitions;
    }

    /** Starts workers until there are as many of each kind as there shall be. */
    private function fill(): void
    {
        foreach ($this->options->kinds() as $kind => $wanted) {
            $there = \count(array_filter($this->workers, static fn (Process $worker) => $worker->kind === $kind));
            for (; $there < $wanted; ++$there) {
                $this->start($kind, sprintf('%s-%03d', $kind, ++$this->started), 'run');
            }
        }
    }

    private function start(string $kind, string $name, string $what): void
    {
        $seed = $this->options->seed + $this->started;
        $arguments = [$this->where($kind), (string) $this->options->resources, (string) $seed];
        $this->workers[$name] = new Process($name, $kind, $this->php($kind), $arguments, $this->directory, $what);
    }

    private function where(string $kind): string
    {
        return $this->server === null || !\in_array($kind, ['latch', 'symfony'], true)
            ? "$this->directory/locks"
            : $this->server->dsn();
    }

    /** @return list<string> */
    private function php(string $kind): array
    {
        $extensions = match ($kind) {
            'latch' => [getenv('LATCH_SO') ?: \dirname(__DIR__, 4) . '/modules/latch.so'],
            'symfony' => $this->server === null ? [] : ['igbinary', 'redis'],
            default => [],
        };
        $command = [\PHP_BINARY, '-n', '-d', 'display_errors=stderr', '-d', 'error_reporting=-1'];
        foreach ($extensions as $extension) {
            array_push($command, '-d', "extension=$extension");
        }

        return $command;
    }

    private function count(): void
    {
        foreach ($this->workers as $worker) {
            $this->granted += $worker->newGrants();
        }
    }

    /** Records who has ended. */
    private function reap(): void
    {
        foreach ($this->workers as $name => $worker) {
            $ending = $worker->ending();
            if ($ending !== null) {
                $this->granted += $worker->newGrants();
                $this->bury($name, $ending);
            }
        }
    }

    private function bury(string $name, string $ending): void
    {
        $this->records->write('ended', hrtime(true), $name, $ending);
        $this->crashes += (int) !\in_array($ending, ['exit-0', 'signal-' . SIGKILL], true);
        $errors = $this->workers[$name]->errors();
        if ($errors !== '') {
            $this->errors .= $name . ': ' . substr($errors, 0, self::SAID) . "\n";
        }
        unset($this->workers[$name]);
    }

    /** Sees all of them end. */
    private function join(): void
    {
        $end = hrtime(true) + self::PATIENCE * 1_000_000_000;
        while ($this->workers !== [] && hrtime(true) < $end) {
            $this->reap();
            usleep(1000);
        }
        foreach ($this->workers as $name => $worker) {
            $worker->signal(SIGKILL);
            $this->bury($name, 'hung');
        }
    }

    /** After the longest TTL all is free; a worker of each kind looks. */
    private function probe(): void
    {
        if ($this->server !== null || $this->options->broken !== null) {
            usleep((Worker::LONG_TTL + 300) * 1000);
        }
        foreach (array_keys($this->options->kinds()) as $kind) {
            $this->start($kind, self::PROBE . $kind, 'probe');
            $this->join();
        }
    }
}
