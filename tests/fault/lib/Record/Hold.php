<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * What came of an attempt that was granted, or that may have been: from when until when the worker held
 * the resource for certain, and the longest time during which its store may have thought so. Of a multi-lock it is the
 * hold on all members, until members() divides it.
 */
final class Hold implements Described
{
    /** Time-out of waits without one. */
    public const ENDLESS = \PHP_INT_MAX;

    /** When acquire() returned; null when it did not say that the lock is held. */
    public ?int $granted = null;

    /** The last moment at which the hold was certain; there is no such time before $granted. */
    public ?int $certainUntil = null;

    /** From $tried until then the store may have had this holder. */
    public int $possibleUntil;

    /** When acquire() returned or threw, or its worker was killed in it. */
    public ?int $ended = null;

    /** Whether acquire() returned false. */
    public bool $refused = false;

    /** Whether it was said to be certain when its session had been gone for a while. */
    public bool $outlivesSession = false;

    /** The last moment at which it was said to be certain, whatever the server had forgotten by then. */
    public ?int $saidUntil = null;

    /** When it was known, of a lock that is kept, that it was lost. */
    public ?int $gone = null;

    /** Whether isHeld() said so; and the reason in the call of onLost(). */
    public bool $noticed = false;
    public ?string $told = null;

    /** Whether it was lost while another mode of it was asked for. */
    public bool $wasChanging = false;

    /**
     * Whether it was told that it is lost while refresh() was under way, and the server had it still: the time was over
     * for which it was certain, and it is held again when refresh() returns.
     */
    public bool $wasRenewing = false;
    public bool $regained = false;

    /** When it began to give the lock back. */
    public ?int $releasing = null;

    public ?int $token = null;

    /** Of a counting semaphore: how many permits these are, and of how many in all; 0: it is a lock. */
    public int $weight = 0;
    public int $limit = 0;

    /** Whether it is a multi-lock's: while it waits it may have the resource for moments. */
    public bool $isOfSeveral = false;

    /** @var array<string, bool> the members of a multi-lock, by resource: exclusive? */
    public array $modes = [];

    /** @var list<string> of a hold on one of them: the resources of all */
    public array $siblings = [];

    /** @var list<int|null> their tokens, in the same order */
    public array $tokens = [];

    /**
     * @param int $lock     number of the first attempt of the same Lock object: with the same token in the store
     * @param int $patience for how long it waits at most, in ns: 0 = it does not, ENDLESS
     * @param int $tried    when acquire() was called
     * @param int $ttl      in ns
     */
    public function __construct(
        public readonly Teller $worker,
        public readonly int $number,
        public readonly int $lock,
        public string $resource,
        public bool $exclusive,
        public readonly int $patience,
        public readonly int $tried,
        public readonly int $ttl,
    ) {
        $this->possibleUntil = $tried;
    }

    /** The hold that refresh() has begun, called and returned at these times, after this one may have expired. */
    public function revived(int $called, int $returned): self
    {
        $hold = new self($this->worker, $this->number, $this->lock, $this->resource, $this->exclusive, $this->patience, $called, $this->ttl);
        $hold->granted = $hold->certainUntil = $hold->saidUntil = $hold->ended = $returned;

        return $hold;
    }

    /** @return non-empty-list<self> the holds on the members of a multi-lock; of all others itself */
    public function members(): array
    {
        $members = [];
        foreach ($this->modes as $resource => $exclusive) {
            $member = clone $this;
            $member->resource = $resource;
            $member->exclusive = $exclusive;
            $member->token = $this->tokens[\count($members)] ?? null;
            $member->modes = [];
            $member->siblings = array_keys($this->modes);
            $members[] = $member;
        }

        return $members ?: [$this];
    }

    /** Whether it was certain for any time at all. */
    public function isCertain(): bool
    {
        return $this->granted !== null && $this->certainUntil > $this->granted;
    }

    /** The server loses its locks then: no hold is certain from then on. */
    public function endBy(?int $forgotten): void
    {
        if ($forgotten !== null && $this->certainUntil !== null) {
            $this->certainUntil = min($this->certainUntil, $forgotten);
        }
    }

    /**
     * Another server becomes the master meanwhile. It knows all that was answered before that: what was got before
     * is certain until it would expire by itself, and nothing that was got meanwhile is. A release, too, may be lost.
     */
    public function endBySwitch(int $from, int $until): void
    {
        if ($this->tried >= $until || $this->possibleUntil < $from) {
            return;
        }
        $this->possibleUntil = max($this->possibleUntil, $until + max($this->ttl, Story::CLAIM) + Faults::AFTERMATH);
        $isKnown = $this->granted !== null && $this->granted <= $from;
        $this->endBy($isKnown ? max($from, $this->tried + $this->ttl) : $from);
    }

    /** Its session is gone then, with what had been got in it. */
    public function endWithSession(int $before, int $after): void
    {
        $this->outlivesSession = $this->granted !== null && $this->granted <= $before
            && $this->certainUntil > $after + Faults::AFTERMATH;
        $this->endBy($before);
        if (($this->granted ?? $this->ended) <= $before) {
            $this->possibleUntil = min($this->possibleUntil, $after);
        }
    }

    /** Whether it was granted, and renewed from then on. */
    public function isKept(): bool
    {
        return $this->granted !== null && $this->worker->has(Teller::KEPT);
    }

    public function waits(): bool
    {
        return $this->patience > 0;
    }

    /** Whether the same Lock object held before: it is a promotion, or a demotion. */
    public function isChange(): bool
    {
        return $this->lock !== $this->number;
    }

    public function describe(int $start): string
    {
        $at = static fn (?int $time): string => $time === null ? '-' : sprintf('%.6f', ($time - $start) / 1e9);

        return sprintf(
            '%s #%d (pid %d) %s "%s", %s: tried %s, granted %s, certain until %s, gave back %s, possible until %s, '
                . 'TTL %d ms, token %s',
            $this->worker->name,
            $this->number,
            $this->worker->pid,
            $this->weight > 0 ? "$this->weight of $this->limit permits" : ($this->exclusive ? 'exclusive' : 'shared'),
            $this->resource,
            match ($this->patience) {
                0 => 'does not wait',
                self::ENDLESS => 'waits',
                default => sprintf('waits %d ms', intdiv($this->patience, 1_000_000)),
            },
            $at($this->tried),
            $at($this->granted),
            $at($this->certainUntil),
            $at($this->releasing),
            $at($this->possibleUntil),
            intdiv($this->ttl, 1_000_000),
            $this->token ?? '-',
        );
    }
}
