<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Hold;

/**
 * Something wrong, with the records that show it.
 */
final class Violation
{
    /** @var list<Hold> */
    public readonly array $holds;

    public function __construct(
        public readonly Kind $kind,
        public readonly string $text,
        ?Hold ...$holds,
    ) {
        $this->holds = array_values(array_filter($holds));
    }
}
