<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * Something that a worker did, as a report shows it.
 */
interface Described
{
    /** @param int $start the time that is shown as zero */
    public function describe(int $start): string;
}
