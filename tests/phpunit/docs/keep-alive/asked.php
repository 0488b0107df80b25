<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

function ship(int $order): void
{
    global $lock;
    say("shipped $order");
    if ($order === 2) {
        steal('orders');
        wait_until(static fn (): bool => !$lock->isHeld(), 'the loss is known');
    }
}

$orders = [1, 2, 3];
$lock = locks()->createLock('orders', ttl: 2)->keepAlive();
$lock->acquire();
try {
    require example('when-the-lock-is-lost-1.php');
} catch (RuntimeException $e) {
    say($e::class);
}
$lock->release();
say(server()->exists('orders') ? "the next holder's" : 'free');
