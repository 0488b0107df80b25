<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

$factory = locks();
require example('not-for-ever-1.php');

$begun = hrtime(true);
$lock->acquire();
wait_until(static fn (): bool => !$lock->isHeld(), 'the lock is lost');
say(hrtime(true) - $begun > 2.5e9 ? 'kept beyond its TTL' : 'lost early');
say(Latch\Lock::getStatistics()['lost'] === 1 ? 'lost' : 'not counted');
