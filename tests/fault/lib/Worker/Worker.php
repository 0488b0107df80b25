<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Record\Writer;
use Random\Engine\Mt19937;
use Random\Randomizer;

/**
 * Takes and gives back locks as chance will have it, and records all of it, see Story.
 */
final class Worker
{
    /** TTLs in ms: most are short enough to run out under a worker that is stopped or slow. */
    public const SHORTEST_TTL = 50;
    public const SHORT_TTL = 300;
    public const LONG_TTL = 1000;
    /** Of locks whose TTLs are whole seconds: so many in a hundred have two. */
    private const TWO_SECONDS = 10;
    /** Those of locks that are kept alive, and for how many of them they are at most, in ms. */
    private const KEPT_TTLS = [300, 500];
    private const KEPT_FOR = 3;

    /** In so many of 1000 holds it forks. */
    private const FORKS = 3;

    /** For so long it waits to be told of a loss that it knows of, in ns. */
    private const NEWS = 3_000_000_000;

    /** For how long it waits, in ms, where it might be for ever. */
    private const SECOND_PATIENCE = 50;

    private readonly Randomizer $chance;
    private int $number = 0;
    /** Whether it is over with the lock in hand: an exception, or it is lost. */
    private bool $ruined = false;
    /** Whether it was told that its lock is lost. */
    private bool $told = false;
    private readonly bool $keeps;
    private readonly bool $forks;
    private readonly bool $countsSeconds;

    /**
     * @param list<string> $resources
     * @param self|null    $second    what this process does beside, now and then, while it holds: its second hand
     */
    public function __construct(
        private readonly Subject $subject,
        private readonly Writer $records,
        private readonly array $resources,
        int $seed,
        private readonly ?self $second = null,
    ) {
        $this->chance = new Randomizer(new Mt19937($seed));
        $this->keeps = \in_array(Teller::KEPT, $subject->traits(), true);
        $this->forks = \in_array(Teller::FORKS, $subject->traits(), true);
        $this->countsSeconds = \in_array(Teller::TTL_IN_SECONDS, $subject->traits(), true);
    }

    public function introduce(string $kind): void
    {
        $traits = implode(',', $this->subject->traits()) ?: '-';
        $this->records->write('worker', hrtime(true), $kind, (int) getmypid(), $traits);
        $this->second?->introduce($kind);
    }

    /** Until SIGTERM comes, which is blocked and does not interrupt anything. */
    public function run(): void
    {
        while (pcntl_sigtimedwait([SIGTERM], $info, 0, 0) !== SIGTERM) {
            try {
                $this->use($this->chance->getInt(0, \count($this->resources) - 1));
            } catch (\ErrorException $e) {
                throw $e;
            } catch (\Exception) {
                // A destructor's: Symfony's asks the server, Latch's may be the second that cannot release.
                $this->subject->recover();
            }
        }
        $this->second?->end();
        $this->end();
    }

    private function end(): void
    {
        $this->records->write('end', hrtime(true));
    }

    /** Tries once whether each of the resources is free, and leaves it so. */
    public function probe(): void
    {
        foreach ($this->resources as $resource) {
            $handle = $this->subject->lock($resource, self::LONG_TTL / 1e3, true);
            if ($this->acquire($handle, ++$this->number, $resource, true, 0, self::LONG_TTL)) {
                $this->confirm($handle);
                $this->release($handle);
            }
        }
        $this->second?->end();
        $this->end();
    }

    /** @param int|null $other the number of what the other hand holds: waits follow that order */
    private function use(int $number, ?int $other = null): void
    {
        $resource = $this->resources[$number];
        $ttl = match (true) {
            $this->keeps => $this->chance->getInt(...self::KEPT_TTLS),
            $this->countsSeconds => $this->happens(self::TWO_SECONDS) ? 2000 : 1000,
            $this->happens(90) => $this->chance->getInt(self::SHORTEST_TTL, self::SHORT_TTL),
            default => self::LONG_TTL,
        };
        $abandons = ($ttl !== self::LONG_TTL || $this->countsSeconds) && \in_array(Teller::EXPIRING, $this->subject->traits(), true)
            && $this->chance->getInt(1, 1000) <= ($this->keeps ? 20 : 2);
        $this->ruined = false;
        try {
            $handle = $this->subject->lock($resource, $ttl / 1e3, !$abandons);
        } catch (\Exception) {
            // Symfony's needs the server here.
            $this->subject->recover();
            usleep(1000);

            return;
        }
        $exclusive = $this->happens(70) || !$this->canShare();
        // Else it might wait for a worker that waits for the other hand.
        $isPatient = $other === null || $number > $other;
        $wait = $this->patience($handle->waiting(), $isPatient);
        $lock = $this->number + 1;
        $this->listen($handle, $lock);
        if (!$this->acquire($handle, $lock, $resource, $exclusive, $wait, $ttl)) {
            if ($this->ruined) {
                $this->happens(50) ? $this->release($handle) : $this->forget($handle);
            }
            usleep($this->chance->getInt(100, 2000));

            return;
        }

        // A worker whose hold took too long mostly tries to go on.
        $isHeld = $this->hold($handle, $ttl);
        if ($this->second !== null && $this->happens(10)) {
            $this->useSecond($this->second, $number);
            $isHeld = $this->confirm($handle);
        }
        if (!$this->ruined && $this->happens($isHeld ? 5 : 80)) {
            $this->refresh($handle);
            $this->hold($handle, $ttl);
        }
        if (!$this->ruined && $this->happens(8)) {
            // Mostly a promotion or a demotion; now and then the same once more.
            $exclusive = $this->happens(20) || !$this->canShare() ? $exclusive : !$exclusive;
            $wait = $handle->waiting() === Waiting::AsTold ? $this->patience(Waiting::AsTold, $isPatient) : 0;
            if ($this->acquire($handle, $lock, $resource, $exclusive, $wait, $ttl)) {
                $this->hold($handle, $ttl);
            }
        }
        match (true) {
            $abandons => $this->forget($handle),
            $this->happens(50) => $this->release($handle),
            default => $this->drop($handle),
        };
        if ($this->happens(20)) {
            usleep($this->chance->getInt(1, 300));
        }
    }

    private function useSecond(self $second, int $held): void
    {
        $this->records->write('aside', hrtime(true));
        try {
            $second->use($this->chance->getInt(0, \count($this->resources) - 1), $held);
        } finally {
            $this->records->write('back', hrtime(true));
        }
    }

    /**
     * For how long to wait, in ms; 0 = not at all, null = without a time-out.
     *
     * @param bool $isEndless whether it may be without one
     */
    private function patience(Waiting $waiting, bool $isEndless): ?int
    {
        $percent = $this->chance->getInt(1, 100);

        return match (true) {
            $waiting === Waiting::NotAtAll, $percent <= 25 => 0,
            $waiting === Waiting::Endlessly, $percent <= 60 => $isEndless ? null : self::SECOND_PATIENCE,
            // About as long as it takes until it is granted.
            $percent <= 80 => $this->chance->getInt(1, 10),
            default => $this->chance->getInt(1, 200),
        };
    }

    /** @phpstan-impure */
    private function acquire(
        Handle $handle,
        int $lock,
        string $resource,
        bool $exclusive,
        ?int $wait,
        int $ttl,
    ): bool {
        $number = ++$this->number;
        [$resource, $mode] = $handle instanceof DescribedHandle
            ? $handle->describe($exclusive)
            : [$resource, $exclusive ? 'x' : 's'];
        $how = $wait === 0 ? 'try' : $wait ?? 'wait';
        $this->records->write('try', hrtime(true), $number, $lock, $resource, $mode, $how, $ttl);
        try {
            $granted = $handle->acquire($exclusive, $wait === null ? null : $wait / 1e3);
        } catch (\Exception $e) {
            $this->fail('failed', $e);

            return false;
        }
        $time = hrtime(true);
        if ($granted) {
            $this->records->write('granted', $time, $number, $handle->fencingToken() ?? '-');
        } else {
            $this->records->write('conflict', $time, $number);
        }

        return $granted;
    }

    /**
     * Holds on for some microseconds, or some milliseconds, or until after the TTL.
     *
     * @return bool whether it certainly holds still
     *
     * @phpstan-impure
     */
    private function hold(Handle $handle, int $ttl): bool
    {
        if ($this->isKept($handle)) {
            return $this->keep($handle, $ttl);
        }
        if ($this->forks && $this->chance->getInt(1, 1000) <= self::FORKS) {
            Fork::exitInChild();
            $this->records->write('fork', hrtime(true));
        }
        $permille = $this->chance->getInt(1, 1000);
        $pause = match (true) {
            $permille <= 700 => 0,
            $permille <= 960 => $this->chance->getInt(1, 1000),
            $permille <= 995 => $this->chance->getInt(1000, 10_000),
            // Of long TTLs few are exceeded.
            default => min($ttl, $permille === 1000 ? self::LONG_TTL : self::SHORT_TTL) * 1000
                + $this->chance->getInt(0, 50_000),
        };
        $end = hrtime(true) + $pause * 1000;
        while ($this->confirm($handle) && hrtime(true) < $end) {
            usleep(min($pause, 1000));
        }
        $rest = $end - hrtime(true);
        if ($rest > 0) {
            // Does not look at what it holds, as programs do.
            usleep(intdiv($rest, 1000) + 1);
        }

        return $this->confirm($handle);
    }

    /**
     * Holds on for a moment, or for some TTLs.
     *
     * @return bool whether it certainly holds still
     *
     * @phpstan-impure
     */
    private function keep(KeptHandle $handle, int $ttl): bool
    {
        $pause = $this->chance->getInt(0, $this->happens(50) ? 5000 : self::KEPT_FOR * $ttl * 1000);
        $end = hrtime(true) + $pause * 1000;
        if ($this->happens(30)) {
            // Does not look at what it holds, as programs do.
            $handle->sleep($pause);
        }
        while (($isHeld = $this->confirm($handle)) && hrtime(true) < $end) {
            $handle->sleep(min($pause, 2000));
        }
        if (!$isHeld && !$this->ruined) {
            $this->records->write('gone', hrtime(true), $this->number);
            $this->ruined = true;
            $this->awaitNews($handle);
        }

        return $isHeld;
    }

    /** What it knows to be lost stays lost, and it is told of that. */
    private function awaitNews(KeptHandle $handle): void
    {
        $patience = hrtime(true) + self::NEWS;
        while (!$this->told && hrtime(true) < $patience) {
            $handle->sleep(1000);
        }
        if ($this->happens(50)) {
            $handle->sleep($this->chance->getInt(0, self::KEPT_TTLS[1] * 1000));
        }
        $this->confirm($handle);
    }

    private function listen(Handle $handle, int $lock): void
    {
        $this->told = false;
        if ($this->isKept($handle)) {
            $handle->onLost(function (string $reason) use ($lock): void {
                $this->told = true;
                $this->records->write('told', hrtime(true), $lock, strtr($reason, ' ', '_'));
            });
        }
    }

    /** @phpstan-assert-if-true KeptHandle $handle */
    private function isKept(Handle $handle): bool
    {
        return $this->keeps && $handle instanceof KeptHandle;
    }

    private function confirm(Handle $handle): bool
    {
        $time = hrtime(true);
        if (!$handle->isCertain()) {
            return false;
        }
        $this->records->write('held', $time, $this->number);

        return true;
    }

    private function refresh(Handle $handle): void
    {
        $this->records->write('renew', hrtime(true), $this->number);
        try {
            $word = $handle->refresh() ? 'renewed' : 'lost';
            $this->records->write($word, hrtime(true), $this->number);
            $this->ruined = $word === 'lost';
        } catch (\Exception $e) {
            $this->fail('unrenewed', $e);
        }
    }

    private function release(Handle $handle): void
    {
        $this->records->write('release', hrtime(true), $this->number);
        try {
            $handle->release();
            $this->records->write('released', hrtime(true), $this->number);
        } catch (\Exception $e) {
            $this->fail('unreleased', $e);
        }
    }

    /**
     * Leaves it to the destructor: this is the end of the only reference.
     *
     * @param-out null $handle
     */
    private function drop(Handle &$handle): void
    {
        $this->records->write('drop', hrtime(true), $this->number);
        try {
            $handle = null;
            $this->records->write('dropped', hrtime(true), $this->number);
        } catch (\Exception $e) {
            $this->fail('unreleased', $e);
        }
    }

    /**
     * Ends a Lock object that may release something or not.
     *
     * @param-out null $handle
     */
    private function forget(Handle &$handle): void
    {
        $this->records->write('abandon', hrtime(true), $this->number);
        try {
            $handle = null;
        } catch (\Exception) {
            $this->subject->recover();
        }
    }

    private function fail(string $word, \Exception $e): void
    {
        $cause = $e;
        while ($cause->getPrevious() !== null) {
            $cause = $cause->getPrevious();
        }
        $name = strtr(substr((string) strrchr('\\' . $cause::class, '\\'), 1) . ":{$cause->getMessage()}", ' ', '_');
        $this->records->write($word, hrtime(true), $this->number, substr($name, 0, 100));
        $this->ruined = true;
        $this->subject->recover();
    }

    private function canShare(): bool
    {
        return !\in_array(Teller::EXCLUSIVE_ONLY, $this->subject->traits(), true);
    }

    private function happens(int $percent): bool
    {
        return $this->chance->getInt(1, 100) <= $percent;
    }
}
