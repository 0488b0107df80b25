<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Debounce;
use Latch\SyncFactory;
use Latch\Tests\Fault\Record\CallWriter;
use Random\Randomizer;

/**
 * Occurrences come for a while, then there are none, so that bursts end by both of their times. Their messages are
 * received by the worker that has sent them, again and again until they are answered "done", and those of them that were
 * to be handled by others, too.
 */
final class DebounceCalls implements Calls
{
    /** Seconds: quiet and max, by the number of the resource. The first has bursts without an end by max. */
    private const TIMES = [[0.01, 3600.0], [0.02, 0.05], [0.01, 0.2]];
    /** Of so many spells, each of so many ns, occurrences come in the first ones. */
    private const SPELL = 60_000_000;
    private const SPELLS = 8;
    private const BUSY_SPELLS = 5;
    /** With so many messages of a resource a worker registers none. */
    private const MOST = 20;

    /** @var array<string, Debounce> */
    private array $debounces = [];
    /** @var array<string, list<int>> tokens of the messages that this worker has, by resource */
    private array $messages = [];

    /**
     * @param list<string> $resources
     * @param string       $directory where the message is that was to be handled last
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
        $number = (int) preg_replace('/\D/', '', $resource);
        [$quiet, $max] = self::TIMES[$number % \count(self::TIMES)];
        $debounce = $this->debounces[$resource] ??= $this->sync->createDebounce($resource, $quiet, $max);
        $times = [(int) ($quiet * 1e6), (int) ($max * 1e6)];
        $messages = $this->messages[$resource] ??= [];
        $isBusy = (intdiv((int) hrtime(true), self::SPELL) + $number) % self::SPELLS < self::BUSY_SPELLS;
        $percent = $this->chance->getInt(1, 100);
        if ($percent <= 10 && is_file($this->file($resource))) {
            $this->receive($debounce, $resource, $times, (int) file_get_contents($this->file($resource)), true);
        } elseif ($isBusy && \count($messages) < self::MOST && ($percent <= 50 || $messages === [])) {
            $this->register($debounce, $resource, $times);
        } elseif ($messages !== []) {
            $token = $percent <= 80 ? array_shift($this->messages[$resource]) : array_pop($this->messages[$resource]);
            $this->receive($debounce, $resource, $times, $token);
        } else {
            usleep(200);
        }
    }

    /** @param array{int, int} $times */
    private function register(Debounce $debounce, string $resource, array $times): void
    {
        $answer = $this->records->call('register', $resource, $times, static function () use ($debounce): array {
            $occurrence = $debounce->register();

            return [$occurrence->token, (int) round($occurrence->delay * 1e6)];
        });
        $percent = $this->chance->getInt(1, 100);
        if ($answer === null || $percent <= 8) {
            return; // it is not sent, as by a process that dies
        }
        $token = (int) $answer[0];
        $this->messages[$resource][] = $token;
        if ($percent <= 80) {
            $this->records->call('sent', $resource, [...$times, $token], static function () use ($debounce, $token): array {
                $debounce->sent($token);

                return ['sent'];
            });
        }
    }

    /**
     * @param array{int, int} $times
     * @param bool            $isAgain it was received by somebody else before
     */
    private function receive(Debounce $debounce, string $resource, array $times, int $token, bool $isAgain = false): void
    {
        $answer = $this->records->call('resume', $resource, [...$times, $token], static function () use ($debounce, $token): array {
            $turn = $debounce->resume($token);

            return [$turn->state, (int) round($turn->retryAfter * 1e6)];
        });
        $isOver = ($answer[0] ?? '') === 'done';
        if (($answer[0] ?? '') === 'go') {
            file_put_contents($this->file($resource) . getmypid(), (string) $token);
            rename($this->file($resource) . getmypid(), $this->file($resource));
            usleep($this->chance->getInt(0, 500));
            $percent = $this->chance->getInt(1, 100);
            if ($percent > 5) { // else it is left undone
                $this->records->call('done', $resource, [...$times, $token], static function () use ($debounce, $token): array {
                    $debounce->done($token);

                    return ['done'];
                });
                $isOver = $percent > 30; // else it is received once more
            }
        }
        if (!$isOver && !$isAgain) {
            $this->messages[$resource][] = $token;
        }
    }

    private function file(string $resource): string
    {
        return "$this->directory/locks/$resource";
    }
}
