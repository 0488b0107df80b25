<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\Program;
use RuntimeException;

require_once __DIR__ . '/../../tests/utils/program.inc';

/**
 * Before a server, for which everything takes so much longer: see parts/slow_relay.php.
 */
final class SlowRelay extends Program
{
    public readonly RedisAddress $address;

    /** @param int $delay of what comes back, in ms */
    public function __construct(RedisAddress $server, int $delay)
    {
        [$host, $port] = $server->parts();
        $this->run(
            [PHP_BINARY, '-n', __DIR__ . '/../parts/slow_relay.php', "tcp://$host:$port", (string) $delay],
            [['file', '/dev/null', 'r'], ['pipe', 'w']],
        );
        $address = fgets($this->pipes[1]) ?: throw new RuntimeException('There is no relay.');
        $this->address = new RedisAddress('redis://' . trim($address));
    }
}
