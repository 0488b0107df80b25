<?php

declare(strict_types=1);

namespace App\Message;

/**
 * Its handler takes its steps.
 */
abstract class Task extends Message
{
}
