<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;

interface Check
{
    /**
     * What is wrong; one at a time, since of a broken lock there can be very many.
     *
     * @return iterable<Violation>
     */
    public function violations(History $history): iterable;
}
