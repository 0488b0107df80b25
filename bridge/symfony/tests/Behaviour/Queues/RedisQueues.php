<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour\Queues;

use Latch\Tests\RedisServer;

/**
 * Redis: a stream for each transport, and a sorted set of its delayed messages.
 */
final class RedisQueues implements Queues
{
    private readonly RedisServer $server;

    public function __construct()
    {
        $this->server = new RedisServer();
    }

    public function dsn(string $transport, string $consumer, array $options): string
    {
        $options += ['claim_interval' => '100'];

        return $this->server->dsn("/$transport/symfony/$consumer?") . http_build_query($options);
    }

    /** The next worker of its name is the same consumer, which gets what it has not acknowledged. */
    public function redeliverSoon(): array
    {
        return [];
    }

    public function notified(): array
    {
        return [];
    }

    public function listeners(): ?int
    {
        return null;
    }

    public function environment(): array
    {
        return [];
    }

    public function empty(): void
    {
        $this->server->command('FLUSHALL');
    }

    public function count(string $transport): int
    {
        // At once, as messages move from one to the other.
        $count = "return redis.call('XLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2])";

        return $this->server->command('EVAL', $count, 2, $transport, "{$transport}__queue");
    }

    public function change(string $transport, string $text, string $by): int
    {
        $changed = 0;
        foreach ($this->server->command('XRANGE', $transport, '-', '+') as [$id, $fields]) {
            if (str_contains($fields[1], $text)) {
                $this->server->command('XADD', $transport, '*', $fields[0], str_replace($text, $by, $fields[1]));
                $this->server->command('XDEL', $transport, $id);
                $changed++;
            }
        }

        return $changed;
    }

    public function duplicate(string $transport, string $text): void
    {
        foreach ($this->server->command('XRANGE', $transport, '-', '+') as [, $fields]) {
            if (str_contains($fields[1], $text)) {
                $this->server->command('XADD', $transport, '*', ...$fields);
            }
        }
    }

    public function lose(string $transport): void
    {
        $this->server->command('XTRIM', $transport, 'MAXLEN', '0');
    }
}
