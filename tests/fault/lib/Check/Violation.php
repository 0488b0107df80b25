<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\Described;

/**
 * Something wrong, with the records that show it.
 */
final class Violation
{
    /** @var list<Described> holds, or calls */
    public readonly array $holds;

    public function __construct(
        public readonly Kind $kind,
        public readonly string $text,
        ?Described ...$holds,
    ) {
        $this->holds = array_values(array_filter($holds));
    }
}
