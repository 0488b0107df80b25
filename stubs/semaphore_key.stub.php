<?php

/** @generate-class-entries */

namespace Latch\Semaphore;

/**
 * The name of a semaphore, how many permits it has, and how many of them are wanted; with the state that
 * proves that they are held.
 *
 * @strict-properties
 */
final class Key implements \Stringable
{
    private string $resource;
    private ?float $expiringTime = null;
    private array $state = [];
    private bool $serializable = true;
    /** What the extension holds for this key: a Lease, or null. */
    private ?\Latch\Lease $lease = null;
    private int $limit;
    private int $weight;
    private ?string $unserializableOwner = null;

    /**
     * @param string $resource the semaphore: any bytes, not empty. It has nothing to do with a lock of that name
     * @param int    $limit    permits that the semaphore has, 1 to 2^53. Each caller says it, and for each what
     *                         it says counts: say the same everywhere
     * @param int    $weight   permits that are acquired together, 1 to $limit
     *
     * @throws Exception\InvalidArgumentException when $limit or $weight is out of its range, or $resource is
     *                                            empty; the latter not under Symfony's names
     */
    public function __construct(string $resource, int $limit, int $weight = 1) {}

    /**
     * The resource.
     *
     * @implementation-alias Latch\Key::__toString
     */
    public function __toString(): string {}

    public function getLimit(): int {}

    public function getWeight(): int {}

    /**
     * Whether a store has noted something under this name.
     *
     * @implementation-alias Latch\Key::hasState
     */
    public function hasState(string $stateKey): bool {}

    /**
     * Lets a store note something that it needs to know its permits again.
     *
     * @implementation-alias Latch\Key::setState
     */
    public function setState(string $stateKey, mixed $state): void {}

    /** @implementation-alias Latch\Key::removeState */
    public function removeState(string $stateKey): void {}

    /** @implementation-alias Latch\Key::getState */
    public function getState(string $stateKey): mixed {}

    /**
     * Says that the permits live in this process; the key cannot be serialised any more.
     *
     * @param string|null $owner the class of the store whose state that is, for the exception's message
     */
    public function markUnserializable(?string $owner = null): void {}

    /**
     * Forgets the expiry: the permits count as endless until a Semaphore says otherwise.
     *
     * @implementation-alias Latch\Key::resetLifetime
     */
    public function resetLifetime(): void {}

    /**
     * Lets the permits expire in $ttlInSeconds seconds, unless they expire earlier anyway.
     *
     * @param float $ttlInSeconds seconds from now, a finite number; negative = in the past
     *
     * @implementation-alias Latch\Key::reduceLifetime
     */
    public function reduceLifetime(float $ttlInSeconds): void {}

    /**
     * Seconds until the permits expire, negative afterwards; null when they do not expire.
     *
     * @phpstan-impure
     *
     * @implementation-alias Latch\Key::getRemainingLifetime
     */
    public function getRemainingLifetime(): ?float {}

    /**
     * @phpstan-impure
     *
     * @implementation-alias Latch\Key::isExpired
     */
    public function isExpired(): bool {}

    /**
     * Reads what __serialize() of this class or of Symfony's Key wrote, also of older releases.
     *
     * @phpstan-param array<mixed> $data
     *
     * @throws Exception\InvalidArgumentException when an entry is missing, of the wrong type or out of its range
     * @throws \BadMethodCallException            when the resource is an object
     *
     * @implementation-alias Latch\Key::__unserialize
     */
    public function __unserialize(array $data): void {}

    /**
     * @return array{resource: string, limit: int, weight: int, expiringTime: float|null, state: array<mixed>}
     *
     * @throws Exception\UnserializableKeyException when the permits live in this process
     *
     * @implementation-alias Latch\Key::__serialize
     */
    public function __serialize(): array {}

    /**
     * Resource, limit, weight and expiry; the tokens, which would let their reader release the permits, are
     * masked.
     *
     * @return array<string, mixed>
     *
     * @implementation-alias Latch\Key::__debugInfo
     */
    public function __debugInfo(): array {}
}
