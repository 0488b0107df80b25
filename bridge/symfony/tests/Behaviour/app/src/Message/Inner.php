<?php

declare(strict_types=1);

namespace App\Message;

/**
 * Without a rule, handled where it is dispatched.
 */
final class Inner extends Task
{
}
