<?php

declare(strict_types=1);

namespace App\Message;

/**
 * Without a rule.
 */
final class Plain extends Task implements Queued
{
}
