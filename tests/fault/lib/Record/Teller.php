<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * A worker: its kind, the properties of its locks, and the outcomes of its attempts.
 */
final class Teller
{
    /** Its locks expire, after the TTL of the attempt. */
    public const EXPIRING = 'expiring';
    /** Its exclusive locks have fencing tokens. */
    public const FENCING = 'fencing';
    /** Its destructors do not wait until the lock is released. */
    public const LATE_RELEASE = 'late-release';
    /** Its locks are on several servers, and what one of them answers says nothing of another one. */
    public const SCATTERED = 'scattered';
    /** Waiters for its locks are served in turn. */
    public const FIRST_COME = 'first-come';
    /** Its attempts without a wait leave a free lock to the waiters of workers that do the same. */
    public const GIVES_WAY = 'gives-way';
    /** Its acquire takes the lock and sets the TTL in two commands. */
    public const TWO_STEPS = 'two-steps';
    /** Its locks are its session's with the server: without a TTL, they end with that. */
    public const SESSION = 'session';
    /** It sees that its session has ended, without asking. */
    public const NOTICES = 'notices';
    /** Waiters ask for a short time only, again and again, each time behind all others. */
    public const ASKS_AGAIN = 'asks-again';
    /** Its locks are granted by a majority of several servers. */
    public const VOTES = 'votes';
    /** There are no shared locks. */
    public const EXCLUSIVE_ONLY = 'exclusive-only';
    /** Its locks are renewed for as long as it holds them and its process runs. */
    public const KEPT = 'kept';

    /** Its holds end with a whole second of the server's clock, up to a second after their TTL. */
    public const WHOLE_SECONDS = 'whole-seconds';
    /** Its TTLs are whole seconds. */
    public const TTL_IN_SECONDS = 'ttl-in-seconds';
    /** Its refusals may be errors of the server. */
    public const HIDES_ERRORS = 'hides-errors';
    /** Its locks or permits are taken one after the other, so that a refused attempt had some of them. */
    public const SINGLY = 'singly';
    /** Its refresh() takes a lock anew that has expired meanwhile, if it is free by then. */
    public const REVIVES = 'revives';
    /** It forks now and then, and its child exits at once, which must change nothing. */
    public const FORKS = 'forks';

    public int $attempts = 0;
    public int $exclusive = 0;
    public int $shared = 0;
    public int $conflicts = 0;
    public int $changes = 0;
    public int $renewals = 0;
    public int $lost = 0;
    public int $released = 0;
    public int $dropped = 0;
    public int $abandoned = 0;
    public int $forks = 0;
    /** @var array<string, int> by the exceptions' names */
    public array $failures = [];

    /** What it was trying when it died. */
    public ?Hold $last = null;

    /** The longest time without a grant while it tried, in ns. */
    public int $longestWait = 0;
    /** When it was granted something last, or tried first. */
    public int $lastGrant;
    public int $end;

    /** @param list<string> $traits */
    public function __construct(
        public readonly string $name,
        public readonly string $kind,
        public readonly int $pid,
        public readonly int $start,
        public readonly array $traits,
    ) {
        $this->lastGrant = $this->end = $start;
    }

    public function has(string $trait): bool
    {
        return \in_array($trait, $this->traits, true);
    }

    public function grants(): int
    {
        return $this->exclusive + $this->shared;
    }
}
