<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * Together with other readers.
 */
#[Lock('document_{key}', read: true)]
final class Reader extends Task implements Queued
{
}
