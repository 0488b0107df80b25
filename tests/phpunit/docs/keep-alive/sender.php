<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';
require __DIR__ . '/queue.inc';

$factory = locks();
require example('a-key-that-is-handed-over-1.php');

say('sent');
wait_until(static fn (): bool => !server()->exists('order-42'), 'the receiver releases the lock');
wait_until(static fn (): bool => !$lock->isHeld(), 'that is found out');
say(Latch\Lock::getStatistics()['lost'] === 0 ? 'not lost' : 'lost');
