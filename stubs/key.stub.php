<?php

/** @generate-class-entries */

namespace Latch;

/**
 * The name of a resource, with the state that proves that its lock is held.
 *
 * @strict-properties
 */
final class Key implements \Stringable
{
    private string $resource;
    private ?float $expiringTime = null;
    private array $state = [];
    private bool $serializable = true;
    /** The extension's state of this key: a Lease, or null. */
    private ?Lease $lease = null;

    /**
     * @param string $resource name of the resource: any bytes, not empty
     *
     * @throws Exception\InvalidArgumentException when $resource is empty; not under Symfony's names
     */
    public function __construct(string $resource) {}

    /** The resource. */
    public function __toString(): string {}

    /** Whether a store has saved a state under this name. */
    public function hasState(string $stateKey): bool {}

    /** Saves a store's state, such as a token by which it recognises its lock. */
    public function setState(string $stateKey, mixed $state): void {}

    public function removeState(string $stateKey): void {}

    public function getState(string $stateKey): mixed {}

    /** Marks the lock as bound to this process; the key cannot be serialised any more. */
    public function markUnserializable(): void {}

    /** Clears the expiry: the lock counts as endless until a store sets another one. */
    public function resetLifetime(): void {}

    /**
     * Makes the lock expire in $ttl seconds, unless it expires earlier anyway.
     *
     * @param float $ttl seconds from now, a finite number; negative = in the past
     */
    public function reduceLifetime(float $ttl): void {}

    /**
     * Seconds until the lock expires, negative afterwards; null when it does not expire.
     *
     * @phpstan-impure
     */
    public function getRemainingLifetime(): ?float {}

    /** @phpstan-impure */
    public function isExpired(): bool {}

    /**
     * Reads the data of __serialize() of this class or of Symfony's Key, also of older releases.
     *
     * @phpstan-param array<mixed> $data
     *
     * @throws Exception\InvalidArgumentException when an entry is missing or of the wrong type
     * @throws \BadMethodCallException            when the resource is an object
     */
    public function __unserialize(array $data): void {}

    /**
     * @return array{resource: string, expiringTime: float|null, state: array<mixed>}
     *
     * @throws Exception\UnserializableKeyException when the lock is bound to this process
     */
    public function __serialize(): array {}

    /**
     * Resource and expiry; the tokens, by which a reader could release the lock, are masked.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array {}
}
