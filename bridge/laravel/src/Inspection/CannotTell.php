<?php

declare(strict_types=1);

namespace Latch\Laravel\Inspection;

/**
 * The store does not tell which locks are held.
 *
 * @internal
 */
final class CannotTell extends \RuntimeException
{
}
