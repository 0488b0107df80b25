<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';
require __DIR__ . '/queue.inc';

/** Longer than the TTL. */
function shipOrder(int $order): void
{
    sleep(3);
    say(server()->exists("order-$order") ? "shipped $order" : 'without a lock');
}

$factory = locks();
require example('a-key-that-is-handed-over-2.php');

say(server()->exists('order-42') ? 'held' : 'free');
