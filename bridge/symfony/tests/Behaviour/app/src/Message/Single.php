<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Once;

/**
 * Is on its way once.
 */
#[Once('report_{key}')]
final class Single extends Task implements Queued
{
}
