<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

use Latch\Key;
use Latch\Lock;
use Latch\PersistingStoreInterface;
use Psr\Log\LoggerInterface;

/**
 * Companion locks of all processes that use a database server: its advisory locks, in a session of Latch's own.
 *
 * @internal
 */
final class ServerPlace extends Place
{
    /**
     * @param string                      $connection name
     * @param \Closure(): LoggerInterface $logger
     */
    public function __construct(
        private readonly PersistingStoreInterface $store,
        string $connection,
        \Closure $logger,
    ) {
        parent::__construct("the server of connection \"$connection\"", $logger);
    }

    public function hold(string $name): Lock
    {
        return new Lock(new Key("latch.laravel.hold.$name"), $this->store);
    }

    public function queue(string $name): Lock
    {
        return new Lock(new Key("latch.laravel.queue.$name"), $this->store);
    }
}
