<?php

declare(strict_types=1);

namespace Latch\Laravel\Redis;

use Latch\Store\RedisStringStore;

/**
 * What is known of a Redis connection, as long as its client, prefix and database stay the same.
 *
 * @internal
 */
final class Native
{
    public ?RedisStringStore $store = null;
    /** Without login. */
    public ?string $dsn = null;
    /** Why there is no store. */
    public ?string $reason = null;

    public function __construct(
        public readonly mixed $client,
        public readonly ?string $prefix,
        public readonly ?int $database,
    ) {
    }
}
