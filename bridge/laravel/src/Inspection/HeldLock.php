<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

/**
 * A lock that is held, and what is known of its holder.
 *
 * @internal
 */
final class HeldLock implements \JsonSerializable
{
    /**
     * @param string      $name      behind the prefix of the cache
     * @param string|null $owner     null: not told
     * @param string|null $holder    the job, command or script
     * @param float|null  $since     Unix time
     * @param float|null  $remaining seconds until it expires; null: never
     * @param int|null    $waiters   null: unknown
     */
    public function __construct(
        public readonly string $name,
        public readonly ?string $owner = null,
        public readonly ?string $host = null,
        public readonly ?int $pid = null,
        public readonly ?string $holder = null,
        public readonly ?float $since = null,
        public readonly ?float $remaining = null,
        public readonly ?int $waiters = null,
    ) {
    }

    /** @return array<string, string|int|float|null> */
    public function jsonSerialize(): array
    {
        return get_object_vars($this);
    }
}
