<?php

declare(strict_types=1);

namespace App\Message;

/**
 * Goes to the transport "a" where nothing else is said; others are handled by their sender.
 */
interface Queued
{
}
