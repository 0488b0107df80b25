<?php

/*
 * quorum_trouble.php SUBJECT killed|stopped|slow SECONDS: acquires and releases a lock in a quorum of three again
 * and again, before and after that happens to a member, and prints how long each took, in ns.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Tests\RedisServer;

require __DIR__ . '/../lib/autoload.php';
require_once __DIR__ . '/../../tests/utils/redis.inc';

const MEMBERS = 3;
const WARM_UP = 200;
const BEFORE = 1_000;

[, $name, $trouble, $seconds] = $argv;
$subject = Subject::from($name);
$servers = array_map(static fn (): RedisServer => new RedisServer(), range(1, MEMBERS));
$addresses = array_map(static fn (RedisServer $server): RedisAddress => new RedisAddress($server->dsn()), $servers);
/** @param list<RedisAddress> $members */
$lock = static fn (array $members): object => $subject->quorum($members, QuorumTrouble::TIMEOUT_MS / 1e3)
    ->createLock('one', 30.0);

/** @return array{int, int} the times of an acquire and of the release behind it */
$pair = static function (object $lock): array {
    $begun = hrtime(true);
    $lock->acquire() || throw new \RuntimeException('A majority is there, and there is no lock.');
    $acquired = hrtime(true);
    $lock->release();

    return [$acquired - $begun, hrtime(true) - $acquired];
};

$same = $lock($addresses);
for ($before = []; count($before) < WARM_UP + BEFORE;) {
    $before[] = $pair($same);
}

match ($trouble) {
    'killed' => $servers[0]->stop(),
    'stopped' => $servers[0]->freeze(),
    'slow' => $relay = new SlowRelay($addresses[0], QuorumTrouble::DELAY_MS),
};
if ($trouble === 'slow') {
    // By way of the relay, connected, and with the scripts there.
    $same = $lock([$relay->address, $addresses[1], $addresses[2]]);
    $pair($same);
    $same->acquire();
    $same->isAcquired();
    $same->release();
}

$end = hrtime(true) + (int) $seconds * 1_000_000_000;
$after = [];
do {
    $after[] = $pair($same);
} while (hrtime(true) < $end);
$servers[0]->runs() && $servers[0]->thaw();

echo json_encode(['before_ns' => array_slice($before, WARM_UP), 'after_ns' => $after], JSON_THROW_ON_ERROR);
