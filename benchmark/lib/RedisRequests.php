<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Redis as PhpRedis;
use RuntimeException;

/**
 * Which requests a server has from its clients, by its own counters.
 *
 * These count a command that a script calls like one that was sent. So it has to be known of each command
 * which of both it is: what only clients send and what only scripts call have nothing in common here.
 */
final class RedisRequests
{
    private const SENT = [
        'auth', 'client', 'eval', 'evalsha', 'hello', 'ping', 'script', 'select', 'subscribe', 'unsubscribe',
    ];
    /** Commands of the scripts of Latch and of Symfony, by how their names begin. */
    private const IN_SCRIPTS = [
        'del', 'exists', 'get', 'h', 'pexpire', 'publish', 'pubsub', 'set', 'time', 'type', 'z',
    ];
    /** Those of who looks on. */
    private const OBSERVERS = ['info', 'monitor'];

    private readonly PhpRedis $observer;
    /** @var array<string, int> */
    private array $before = [];

    public function __construct(RedisAddress $server)
    {
        $this->observer = $server->connect();
    }

    public function begin(): void
    {
        $this->before = $this->sent();
    }

    /** @return array<string, int> by command, without those that nobody has sent since */
    public function sinceBegun(): array
    {
        $since = [];
        foreach ($this->sent() as $command => $calls) {
            $since[$command] = $calls - ($this->before[$command] ?? 0);
        }

        return array_filter($since);
    }

    /** @return array<string, int> since the server's start */
    private function sent(): array
    {
        $sent = [];
        foreach ($this->observer->info('commandstats') as $name => $numbers) {
            // "cmdstat_script|exists" is a command and what it is to do.
            $command = strtok(substr($name, strlen('cmdstat_')), '|');
            if (in_array($command, self::SENT, true)) {
                sscanf($numbers, 'calls=%d', $calls);
                $sent[$command] = ($sent[$command] ?? 0) + $calls;
            } elseif (!self::isNoRequest($command)) {
                throw new RuntimeException("Do clients send \"$command\", or do scripts call it?");
            }
        }

        return $sent;
    }

    private static function isNoRequest(string $command): bool
    {
        if (in_array($command, self::OBSERVERS, true)) {
            return true;
        }
        foreach (self::IN_SCRIPTS as $beginning) {
            if (str_starts_with($command, $beginning)) {
                return true;
            }
        }

        return false;
    }
}
