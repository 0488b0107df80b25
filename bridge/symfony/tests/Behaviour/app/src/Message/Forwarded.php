<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Once;

/**
 * Its envelope is dispatched again while it is handled, as it came: App\Messenger\Forwarding.
 */
#[Once('report_{key}')]
final class Forwarded extends Task implements Queued
{
}
