<?php

/** @generate-class-entries */

namespace Latch;

/**
 * Makes versions, throttles and count-downs in one store.
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
