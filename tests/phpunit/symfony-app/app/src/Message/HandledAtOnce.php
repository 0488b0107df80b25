<?php

declare(strict_types=1);

namespace App\Message;

/**
 * What is handled where it is dispatched, not by a worker.
 */
interface HandledAtOnce
{
}
