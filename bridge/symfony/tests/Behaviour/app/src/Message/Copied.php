<?php

declare(strict_types=1);

namespace App\Message;

/**
 * Without a rule of its class. Its envelope is dispatched to the transport "b" while it is handled, as it came from "a":
 * App\Messenger\Forwarding.
 */
final class Copied extends Task implements Queued
{
}
