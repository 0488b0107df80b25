<?php

/** @generate-class-entries */

namespace Latch;

/**
 * Makes versions, throttles, count-downs, sequences and debounces in one store.
 *
 * They are in the store's server or directory, beside its locks; one of them and a lock of the same name have nothing
 * to do with each other. What the store keeps of them expires. docs/primitives.md has a recipe for each.
 *
 * @strict-properties
 * @not-serializable
 */
final class SyncFactory
{
    /**
     * @param PersistingStoreInterface $store a RedisStore (on a DSN or a client object), a FlockStore or an InMemoryStore
     *
     * @throws Exception\InvalidArgumentException when the store has none of them; names the stores that have them
     */
    public function __construct(PersistingStoreInterface $store) {}

    /**
     * The newest version of a resource: "only if newer".
     *
     * @param string $resource name: any bytes, not empty
     * @param float  $ttl      seconds for which the version is remembered after the last one: more than 0
     *
     * @throws Exception\InvalidArgumentException when $resource is empty
     * @throws Exception\InvalidTtlException      when $ttl is not a finite number above 0
     */
    public function createVersion(string $resource, float $ttl = 604800.0): Version {}

    /**
     * No more than so many begins in a time.
     *
     * @param string $resource name: any bytes, not empty
     * @param int    $limit    begins in each interval: 1 to 2^53, and a million per second at most
     * @param float  $interval seconds: more than 0, and a year at most
     * @param int    $burst    begins that may come at once, after a pause: 1 (evenly spaced) to $limit
     *
     * @throws Exception\InvalidArgumentException when an argument is out of its range
     */
    public function createThrottle(string $resource, int $limit, float $interval, int $burst = 1): Throttle {}

    /**
     * Members that have to arrive, and a last step when all have.
     *
     * @param string $resource name: any bytes, not empty
     * @param float  $ttl      seconds for which the count-down is remembered after the last arrival: more than 0
     *
     * @throws Exception\InvalidArgumentException when $resource is empty
     * @throws Exception\InvalidTtlException      when $ttl is not a finite number above 0
     */
    public function createCountDown(string $resource, float $ttl = 604800.0): CountDown {}

    /**
     * Entries that are handled one after the other, in the order in which they entered.
     *
     * @param string      $resource name: any bytes, not empty
     * @param float       $ttl      seconds for which the sequence is remembered after the last call that changed it: more
     *                              than 0. Payloads that it keeps end with it
     * @param float       $lease    seconds for which the head is this object's after each resume(), and each entry that it
     *                              was given: more than 0, and 1e9 at most. Then its process counts as dead
     * @param string|null $owner    getOwner() of an object whose turn this one takes part in, as in the process that
     *                              finishes what another one has handled; null: a random one
     *
     * @throws Exception\InvalidArgumentException when $resource or $owner is empty, $owner has more than 1024 bytes, or
     *                                            $lease is out of its range
     * @throws Exception\InvalidTtlException      when $ttl is not a finite number above 0
     */
    public function createSequence(string $resource, float $ttl = 604800.0, float $lease = 30.0, ?string $owner = null): Sequence {}

    /**
     * Of a burst the last one.
     *
     * @param string     $resource name: any bytes, not empty
     * @param float      $quiet    seconds without another occurrence that end a burst: more than 0, and a year at most
     * @param float|null $max      seconds after which a burst ends at the latest, from its first occurrence on: $quiet to
     *                             a year; null: it lasts as long as occurrences come
     * @param float      $ttl      seconds for which occurrences are remembered after the last one: more than 0
     *
     * @throws Exception\InvalidArgumentException when $resource is empty, or $quiet or $max is out of its range
     * @throws Exception\InvalidTtlException      when $ttl is not a finite number above 0
     */
    public function createDebounce(string $resource, float $quiet, ?float $max = null, float $ttl = 604800.0): Debounce {}
}

/**
 * The newest version of a resource.
 *
 * Versions are whole numbers of any length (also as strings: an optional sign and digits), which are compared as
 * numbers; dates, which are compared by their microseconds since 1970, as numbers; or other strings, which are
 * compared byte by byte (ISO dates, ULIDs). All versions of a resource must be of one kind. A version has 4096 bytes
 * at most.
 *
 * @strict-properties
 * @not-serializable
 */
final class Version
{
    private function __construct() {}

    /**
     * Makes this version the newest one, if it is newer than all before it.
     *
     * @param bool $orSame also if it is the newest one already
     *
     * @return bool false: it is not newer
     *
     * @throws Exception\InvalidArgumentException when the version is empty or too long, or of another kind than those
     *                                            before it
     * @throws Exception\LockStorageException     when the store fails
     */
    public function advance(int|string|\DateTimeInterface $version, bool $orSame = false): bool {}

    /**
     * Takes an advance() to this version back, as what was to follow has failed: the version may come again.
     *
     * The version before it is the newest one again, unless that is not known any more, as after two calls of
     * revert(): then this one remains the newest, and may come once more. Nothing older than what was the newest
     * before an advance() is ever let through by its revert().
     *
     * @return bool false: it is not the newest one
     *
     * @throws Exception\InvalidArgumentException as advance()
     * @throws Exception\LockStorageException     when the store fails
     */
    public function revert(int|string|\DateTimeInterface $version): bool {}

    /**
     * Is a newer version known?
     *
     * @throws Exception\InvalidArgumentException as advance()
     * @throws Exception\LockStorageException     when the store fails
     */
    public function isOutdated(int|string|\DateTimeInterface $version): bool {}

    /**
     * The newest version; null: none is known. Numbers are without leading zeros and "+".
     *
     * @throws Exception\LockStorageException when the store fails
     */
    public function get(): ?string {}
}

/**
 * Begins that are an even time apart, by the store's clock: interval / limit, rounded up to microseconds.
 *
 * @strict-properties
 * @not-serializable
 */
final class Throttle
{
    private function __construct() {}

    /**
     * Takes the next slot.
     *
     * A wait is one sleep, for as long as the store has said: slots in the future are given away in the order in
     * which they are asked for. Signal handlers run meanwhile; an exception of theirs ends the wait, and its slot is
     * used up.
     *
     * @param bool       $blocking wait for a slot; else true only if there is one now
     * @param float|null $timeout  seconds: if the wait would be longer the result is false at once, and no slot is
     *                             used up; null: as long as it takes. Only with $blocking
     *
     * @return bool true: it is time to begin
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative or NAN, or given without $blocking
     * @throws Exception\LockStorageException     when the store fails
     */
    public function acquire(bool $blocking = false, ?float $timeout = null): bool {}

    /**
     * Seconds until there is a slot; 0.0: there is one now. Takes none.
     *
     * @throws Exception\LockStorageException when the store fails
     */
    public function getRetryAfter(): float {}
}

/**
 * Members that have to arrive, in any process, and a last step when all have.
 *
 * A member is a name: if it arrives twice, as messages do that are delivered twice, it counts once. The payload is what
 * the last step needs. It is given to exactly one arrival, which claims the last step for some seconds. When the process
 * dies before it has called done(), the next arrival after those seconds is given the payload, as of a part that is
 * delivered again. Without a payload there is no last step.
 *
 * @strict-properties
 * @not-serializable
 */
final class CountDown
{
    private function __construct() {}

    /**
     * Opens the count-down, before the first of its parts is sent.
     *
     * @param array $members names, of 1 to 1024 bytes each: 1 to 10,000 of them
     * @phpstan-param array<int|string> $members
     * @param string|null       $payload 1 MiB at most; null: there is no last step
     *
     * @return bool false: it was open with these members already, or is done, and stays as it is
     *
     * @throws Exception\InvalidArgumentException when members are missing, too many, empty, too long or named twice,
     *                                            when the payload is too long, and when the count-down is open with
     *                                            other members
     * @throws Exception\LockStorageException     when the store fails
     */
    public function open(array $members, ?string $payload = null): bool {}

    /**
     * Records that a member has arrived.
     *
     * @param bool  $failed it has failed, which counts as arrived; if it arrives again without this, before the others
     *                      all have, it has not failed
     * @param float $claim  seconds for which the last step is this process's, if it is given the payload: more than 0
     *
     * @throws Exception\InvalidArgumentException when the count-down is not open (any more), or has no such member
     * @throws Exception\LockStorageException     when the store fails
     */
    public function arrive(string $member, bool $failed = false, float $claim = 30.0): Arrival {}

    /**
     * The last step is done: nobody is given the payload any more, and await() returns.
     *
     * @throws Exception\InvalidArgumentException when members have not arrived
     * @throws Exception\LockStorageException     when the store fails
     */
    public function done(): void {}

    /**
     * Ends the count-down: later arrivals have no effect, and open() may open it anew.
     *
     * @return bool false: it was not open
     *
     * @throws Exception\LockStorageException when the store fails
     */
    public function cancel(): bool {}

    /**
     * Waits until the count-down is done: the last step, or without a payload the last arrival.
     *
     * In Redis it is told of the end by a message, and asks each second in case that one is lost. In the other stores,
     * on a client object, and where messages are not allowed, it asks after 5 ms, then less and less often, each 100 ms
     * at last. Signal handlers run meanwhile.
     *
     * @param float|null $timeout seconds; null: as long as it takes
     *
     * @return bool false: it was cancelled, or the time is over
     *
     * @throws Exception\InvalidArgumentException when $timeout is negative or NAN, and when the count-down was not
     *                                            opened, or has expired
     * @throws Exception\LockStorageException     when the store fails
     */
    public function await(?float $timeout = null): bool {}

    /**
     * What the store knows of it: a snapshot.
     *
     * @return array{state: 'none'|'open'|'arrived'|'done'|'cancelled', total: int, left: int, hasPayload: bool,
     *               claimedFor: float, failed: list<string>, missing: list<string>}
     *         state: none: not opened, or expired; arrived: all members have, and the last step is to be done;
     *         claimedFor: seconds for which a process still claims the last step; failed, missing: members, in no order
     *
     * @throws Exception\LockStorageException when the store fails
     */
    public function inspect(): array {}
}

/**
 * What CountDown::arrive() tells.
 *
 * @strict-properties
 * @not-serializable
 */
final class Arrival
{
    /** Number of members that have not arrived. 0 of a count-down that was cancelled. */
    public readonly int $left;

    /** The payload, if the last step is this caller's, who calls CountDown::done() after it; else null. */
    public readonly ?string $payload;

    /** @var list<string> members that have failed, in no order, once all have arrived */
    public readonly array $failed;

    private function __construct() {}
}

/**
 * Entries that are handled one after the other, in the order in which they entered, by any number of processes.
 *
 * The first entry that has not ended is the head: its message is sent to a queue. Those behind it are parked: the store
 * keeps their payloads, and next() hands them out one by one to the process that has finished the one before. A process
 * that handles the head has a lease on it. When the process dies, the lease ends, and the head is anybody's who has its
 * message, or the message of one that has ended before.
 *
 * @strict-properties
 * @not-serializable
 */
final class Sequence
{
    private function __construct() {}

    /**
     * Enters at the end. Once more with the same id: the same place.
     *
     * @param string      $id      name of the entry, of 1 to 1024 bytes, such as the message's. It is known until 1,000
     *                             later entries have ended, or it was abandoned
     * @param string|null $payload 1 MiB at most: kept until it is the entry's turn, unless that is now; null: nothing is
     *                             kept, as the message is sent in any case, and waits by its own means (Turn::$retryAfter)
     *
     * @throws Exception\InvalidArgumentException when $id is empty or too long, or $payload too long
     * @throws Exception\LockStorageException     when the store fails
     */
    public function enter(string $id, ?string $payload = null): Place {}

    /**
     * Is it this entry's turn? Then the head is this object's for the time of its lease. Once more: renews the lease.
     *
     * @param int $ticket of enter()
     *
     * @throws Exception\InvalidArgumentException when $ticket is not above 0
     * @throws Exception\LockStorageException     when the store fails
     */
    public function resume(int $ticket): Turn {}

    /**
     * The entry has ended, and the next one is the head: if it is parked, it is this object's, and handed out.
     *
     * Also of an entry that has ended before, as of a message that is delivered again: then the parked head is handed out
     * that was in the hand of a process whose lease has ended.
     *
     * @return Entry|null null: there is none; or it travels; or the turn was another object's
     *
     * @throws Exception\InvalidArgumentException when $ticket is not above 0
     * @throws Exception\LockStorageException     when the store fails
     */
    public function next(int $ticket): ?Entry {}

    /**
     * The head keeps its place, and is not this object's any more: its message was sent to a queue, to be handled there,
     * or again. To be called after it was sent, as the payload is not kept any more. No effect if the head is not this
     * object's.
     *
     * @throws Exception\InvalidArgumentException when $ticket is not above 0
     * @throws Exception\LockStorageException     when the store fails
     */
    public function putBack(int $ticket): void {}

    /**
     * Ends a head that nobody handles, and that was not heard of for so long, so that those behind it go on.
     *
     * It is "late" when it comes after all. A head that is parked, in the hand of a process that died, is not abandoned
     * but handed out.
     *
     * @param float $patience seconds: 0 to 1e9. They begin when an entry becomes the head, and anew with resume() and
     *                        putBack()
     *
     * @return Entry|null the head, which is this object's; null: none was abandoned, there is no other, or it travels
     *
     * @throws Exception\InvalidArgumentException when $patience is out of its range
     * @throws Exception\LockStorageException     when the store fails
     */
    public function abandon(float $patience): ?Entry {}

    /**
     * The owner of the leases of this object. In a forked process it is another one, unless it was given.
     *
     * @throws Exception\LockStorageException when the system has no random numbers
     */
    public function getOwner(): string {}

    /**
     * What the store knows of it: a snapshot.
     *
     * @return array{head: int|null, parked: bool, heldFor: float, idleFor: float, waiting: int, average: float|null}
     *         head: ticket of the head; parked: its payload is kept; heldFor: seconds for which it is still somebody's;
     *         idleFor: seconds since it was heard of; waiting: number of entries behind it; average: seconds from resume()
     *         to next(), null until one has ended
     *
     * @throws Exception\LockStorageException when the store fails
     */
    public function inspect(): array {}
}

/**
 * What Sequence::enter() tells.
 *
 * @strict-properties
 * @not-serializable
 */
final class Place
{
    /** Names the entry: rises from entry to entry. Travels with the message. */
    public readonly int $ticket;

    /** It is the first, and its message is to be sent; else it waits, with its payload kept if there is one. */
    public readonly bool $isHead;

    private function __construct() {}
}

/**
 * Whether something is to be handled: what Sequence::resume() and Debounce::resume() tell.
 *
 * @strict-properties
 * @not-serializable
 */
final class Turn
{
    /**
     * "go": handle it now; "held": not yet; "done": it is not to be handled any more, as it was handled or replaced;
     * "late" (of a sequence alone): it was abandoned, or is not known any more: its order is lost.
     *
     * @var string
     *
     * @phpstan-var 'go'|'held'|'done'|'late'
     *
     * @psalm-var 'go'|'held'|'done'|'late'
     */
    public readonly string $state;

    /**
     * Seconds after which to ask again, of "held". Of "done", above 0: a parked entry that came after this one is in the
     * hand of a process; acknowledge the message only when that has ended, as that process may die. Else 0.0.
     */
    public readonly float $retryAfter;

    private function __construct() {}
}

/**
 * Entry that Sequence::next() or Sequence::abandon() hands out.
 *
 * @strict-properties
 * @not-serializable
 */
final class Entry
{
    /** Of Sequence::enter(). */
    public readonly int $ticket;

    /** Of Sequence::enter(). */
    public readonly string $payload;

    private function __construct() {}
}

/**
 * Of a burst of occurrences the last one is to be handled, when the burst has ended.
 *
 * The sender registers an occurrence, sends its message, and says that it is sent: from then on it takes the place of
 * those before it in the burst. So one that was never sent, as its process died, takes the place of none.
 *
 * @strict-properties
 * @not-serializable
 */
final class Debounce
{
    private function __construct() {}

    /**
     * A new occurrence, before its message is sent.
     *
     * @throws Exception\LockStorageException when the store fails
     */
    public function register(): Occurrence {}

    /**
     * The message of an occurrence is sent. If that is not told, it counts from its first resume() on.
     *
     * @param int $token of register()
     *
     * @throws Exception\InvalidArgumentException when $token is not above 0
     * @throws Exception\LockStorageException     when the store fails
     */
    public function sent(int $token): void {}

    /**
     * Is the occurrence to be handled now? "go" for the last one of a burst that has ended, until done(): also when its
     * message is delivered again.
     *
     * @param int $token of register()
     *
     * @throws Exception\InvalidArgumentException when $token is not above 0
     * @throws Exception\LockStorageException     when the store fails
     */
    public function resume(int $token): Turn {}

    /**
     * It is handled.
     *
     * @param int $token of register()
     *
     * @throws Exception\InvalidArgumentException when $token is not above 0
     * @throws Exception\LockStorageException     when the store fails
     */
    public function done(int $token): void {}
}

/**
 * What Debounce::register() tells.
 *
 * @strict-properties
 * @not-serializable
 */
final class Occurrence
{
    /** Names the occurrence: rises from one to the next. Travels with the message. */
    public readonly int $token;

    /** Seconds until the burst ends if no other occurrence comes: the delay of the message. */
    public readonly float $delay;

    private function __construct() {}
}
