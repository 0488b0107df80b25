<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require_once __DIR__ . '/../../tests/utils/redis.inc';

/**
 * The measurements of `benchmark/run messenger`: messages in Symfony's bus, with the bundle and without.
 *
 * Collects the raw numbers; what they come to is MessengerReport's business.
 */
final class Messenger
{
    public const STORES = ['Redis', 'Redis on another processor', 'files', 'memory'];

    public function __construct(private readonly int $rounds, private readonly string $folder)
    {
    }

    /** @return array<string, mixed> */
    public function measure(): array
    {
        $servers = [new RedisServer(), new RedisServer()];
        Programs::pin($servers[0]->pid(), Programs::quietProcessor());
        Programs::pin($servers[1]->pid(), Programs::otherProcessor());
        $dsns = array_combine(self::STORES, [$servers[0]->dsn(), $servers[1]->dsn(), "flock://$this->folder/locks", 'in-memory']);
        Command::say("messages, $this->rounds rounds");
        $stores = array_map(static fn (string $name, string $dsn): string => "$name=$dsn", array_keys($dsns), $dsns);

        return ['rounds' => $this->rounds] + (new Programs('ctype', 'mbstring', 'tokenizer'))->part(
            'messenger',
            true,
            $this->rounds,
            $this->folder,
            ...$stores,
        );
    }
}
