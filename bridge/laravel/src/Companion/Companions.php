<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

use Illuminate\Database\Connection;
use Latch\Exception\ExceptionInterface as LockException;
use Psr\Log\LoggerInterface;

/**
 * Makes the companion locks of an application's cache locks.
 *
 * @internal
 */
final class Companions
{
    private readonly LocalPlace $local;
    private readonly ?PeerGaps $gaps;

    /** @var \WeakMap<Connection, ServerPlace|null> null: this server cannot have companions */
    private \WeakMap $servers;

    /**
     * @param string                      $directory  for the files of this machine
     * @param bool                        $useServers queue in database servers, where that is possible
     * @param bool                        $hasPeers   processes without Latch wait for the same locks
     * @param \Closure(): LoggerInterface $logger
     */
    public function __construct(
        string $directory,
        private readonly bool $useServers,
        bool $hasPeers,
        private readonly \Closure $logger,
    ) {
        $this->local = new LocalPlace($directory, $logger);
        $this->gaps = $hasPeers ? new PeerGaps("$directory/gaps") : null;
        $this->servers = new \WeakMap();
    }

    /** For a lock that is not in a database. */
    public function local(string $name): Companion
    {
        return new Companion($this->local, $name, $this->gaps);
    }

    public function inDatabase(Connection $connection, string $name): Companion
    {
        $server = $this->useServers ? $this->server($connection) : null;

        return new Companion($server === null || $server->isAvoided() ? $this->local : $server, $name, $this->gaps);
    }

    private function server(Connection $connection): ?ServerPlace
    {
        if (!$this->servers->offsetExists($connection)) {
            $this->servers[$connection] = $this->makeServer($connection);
        }

        return $this->servers[$connection];
    }

    private function makeServer(Connection $connection): ?ServerPlace
    {
        try {
            $store = ServerStore::of($connection);
        } catch (LockException $e) {
            ($this->logger)()->warning(
                "Latch: the server of connection \"{$connection->getName()}\" has no queue: {$e->getMessage()}",
                ['exception' => $e],
            );

            return null;
        }

        return $store === null ? null : new ServerPlace($store, (string) $connection->getName(), $this->logger);
    }
}
