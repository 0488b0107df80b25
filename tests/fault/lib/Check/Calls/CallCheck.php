<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\Call;
use Latch\Tests\Fault\Record\CallHistory;

interface CallCheck
{
    /**
     * What is wrong in the calls about one resource in one era.
     *
     * @param list<Call> $calls in the order of their beginnings
     *
     * @return iterable<Violation>
     */
    public function violations(array $calls, CallHistory $history): iterable;
}
