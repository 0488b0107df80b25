<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Entry;
use Latch\Sequence;
use Latch\SyncFactory;
use Latch\Tests\Fault\Record\CallWriter;
use Random\Randomizer;

/**
 * Entries of all workers, most of them parked; whoever has one goes on with the next, gives it back to a queue now and
 * then, or leaves it undone, as a process that dies.
 */
final class SequenceCalls implements Calls
{
    /** Seconds. */
    public const LEASE = 0.3;
    private const PATIENCE = 0.5;

    /** @var array<string, Sequence> */
    private array $sequences = [];
    /** @var array<string, list<int>> tickets whose messages this worker has, by resource */
    private array $messages = [];
    private int $entered = 0;

    /**
     * @param list<string> $resources
     * @param string       $directory where the message is that was handled last
     */
    public function __construct(
        private readonly SyncFactory $sync,
        private readonly CallWriter $records,
        private readonly array $resources,
        private readonly Randomizer $chance,
        private readonly string $directory,
    ) {
    }

    public function step(): void
    {
        $resource = $this->resources[$this->chance->getInt(0, \count($this->resources) - 1)];
        $sequence = $this->sequences[$resource] ??= $this->sync->createSequence($resource, lease: self::LEASE);
        $percent = $this->chance->getInt(1, 100);
        if ($percent <= 40) {
            $this->enter($sequence, $resource);
        } elseif ($percent <= 75 && ($this->messages[$resource] ?? []) !== []) {
            $this->receive($sequence, $resource, array_shift($this->messages[$resource]));
        } elseif ($percent <= 95 && is_file($this->file($resource))) {
            $this->receive($sequence, $resource, (int) file_get_contents($this->file($resource)), true);
        } else {
            $this->go($sequence, $resource, $this->ask('abandon', $resource, [], static fn (): ?Entry => $sequence->abandon(self::PATIENCE)));
        }
    }

    private function enter(Sequence $sequence, string $resource): void
    {
        $isAgain = $this->chance->getInt(1, 100) <= 10;
        $id = getmypid() . '-' . ($isAgain ? $this->entered : ++$this->entered);
        $payload = $this->chance->getInt(1, 100) <= 90 ? "last:$id" : null;
        $answer = $this->records->call('enter', $resource, [$id], static function () use ($sequence, $id, $payload): array {
            $place = $sequence->enter($id, $payload);

            return [$place->ticket, (int) $place->isHead];
        });
        if ($answer !== null && ($payload === null || $answer[1] === '1')) {
            $this->messages[$resource][] = (int) $answer[0];
        }
    }

    /** @param bool $isAgain it was received by somebody else before, and was not acknowledged */
    private function receive(Sequence $sequence, string $resource, int $ticket, bool $isAgain = false): void
    {
        $answer = $this->records->call('resume', $resource, [$ticket], static fn (): array => [$sequence->resume($ticket)->state]);
        if (($answer === null || $answer === ['held']) && !$isAgain) {
            $this->messages[$resource][] = $ticket;
        } elseif ($answer === ['go']) {
            $this->go($sequence, $resource, $ticket);
        } elseif ($answer === ['done']) {
            $this->go($sequence, $resource, $this->ask('next', $resource, [$ticket], static fn (): ?Entry => $sequence->next($ticket)));
        }
    }

    /** It is this entry's turn, and this worker's. */
    private function go(Sequence $sequence, string $resource, ?int $ticket): void
    {
        while ($ticket !== null) {
            file_put_contents($this->file($resource) . getmypid(), (string) $ticket);
            rename($this->file($resource) . getmypid(), $this->file($resource));
            usleep($this->chance->getInt(0, 500));
            $percent = $this->chance->getInt(1, 100);
            if ($percent <= 1) {
                return; // it leaves it undone
            }
            if ($percent <= 4) {
                $this->records->call('back', $resource, [$ticket], static function () use ($sequence, $ticket): array {
                    $sequence->putBack($ticket);

                    return ['back'];
                });
                $this->messages[$resource][] = $ticket;

                return;
            }
            $ticket = $this->ask('next', $resource, [$ticket], static fn (): ?Entry => $sequence->next($ticket));
        }
    }

    /**
     * @param list<int>          $arguments
     * @param \Closure(): ?Entry $call
     *
     * @return int|null the ticket that it was given
     */
    private function ask(string $name, string $resource, array $arguments, \Closure $call): ?int
    {
        $answer = $this->records->call($name, $resource, $arguments, static function () use ($call): array {
            $entry = $call();

            return [$entry->ticket ?? '-', $entry->payload ?? '-'];
        });

        return $answer === null || $answer[0] === '-' ? null : (int) $answer[0];
    }

    private function file(string $resource): string
    {
        return "$this->directory/locks/$resource";
    }
}
