<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

/**
 * A handle whose attempts have another resource and mode in the records than a lock's, see Story.
 */
interface DescribedHandle extends Handle
{
    /** @return array{string, string} RESOURCE and MODE */
    public function describe(bool $exclusive): array;
}
