<?php

/*
 * keepalive.php TTL LOCKS THIRDS: keeps so many locks with that TTL, in s, alive in a Redis server, and does
 * nothing else. For each of so many thirds of the TTL: the microseconds of processor time that this process took,
 * with all its threads, and how often one of these slept; for all of them what the server had to do by its own
 * counters, and in how many bunches it was asked.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;
use RuntimeException;

require __DIR__ . '/../lib/autoload.php';
require_once __DIR__ . '/../../tests/utils/redis.inc';

[, $ttl, $count, $thirds] = array_map(intval(...), $argv);
$third = intdiv($ttl * 1_000_000_000, 3);
$server = new RedisServer();
$factory = Subject::Latch->locks('redis', $server->dsn());

$locks = [];
for ($i = 0; $i < $count; ++$i) {
    $locks[$i] = $factory->createLock("kept-$i", (float) $ttl)->keepAlive();
    $locks[$i]->acquire() || throw new RuntimeException("No lock $i.");
}
// The first renewals make a connection; from then on nothing is begun near the middle between two of them.
$moment = hrtime(true) + intdiv(3 * $third, 2);
Clock::sleepUntil($moment);

/** @return array<string, int> */
$used = static function (): array {
    $usage = getrusage();

    return [
        'processor_us' => ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1_000_000
            + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'],
        'sleeps' => $usage['ru_nvcsw'],
    ];
};

$counters = new KeepAliveCounters($server);
$eachThird = [];
$counters->begin();
for ($i = 0; $i < $thirds; ++$i) {
    $before = $used();
    $moment += $third;
    usleep(max(0, intdiv($moment - hrtime(true), 1_000)));
    foreach ($used() as $what => $value) {
        $eachThird[$what][] = $value - $before[$what];
    }
}
$served = $counters->sinceBegun();
$bunches = $counters->bunches($thirds * $third, intdiv($third, 10));

foreach ($locks as $i => $lock) {
    $lock->isHeld() || throw new RuntimeException("Lock $i was lost.");
}
$report = [
    'software' => ['redis-server' => $server->info('server')['redis_version']],
    'thirds' => $thirds,
    'each_third' => $eachThird,
    'server' => $served + ['bunches' => $bunches],
    'threads' => count(glob('/proc/self/task/*') ?: []),
    'connections' => count($server->clients()),
];
// Before the server ends.
$locks = [];
echo json_encode($report, JSON_THROW_ON_ERROR);
