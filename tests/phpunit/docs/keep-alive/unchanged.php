<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

$lock = locks()->createLock('report', 2);
$begun = hrtime(true);
$lock->acquire();
try {
    wait_until(static fn (): bool => false, 'the loss is thrown');
} catch (Latch\Exception\LockExpiredException $e) {
    say(hrtime(true) - $begun > 2.5e9 ? 'kept beyond its TTL' : 'lost early');
    say((new ReflectionClass($e))->getShortName());
}
