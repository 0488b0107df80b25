<?php

declare(strict_types=1);

namespace App\Message;

use Latch\Symfony\Messenger\Lock;

/**
 * The same, handled where it is dispatched.
 */
#[Lock('document_{key}')]
final class InnerWriter extends Task
{
}
