<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * The same, handled where it is dispatched.
 */
#[Lock('order_{key}')]
final class InnerPerKey extends Task
{
}
