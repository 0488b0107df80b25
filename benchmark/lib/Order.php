<?php

declare(strict_types=1);

namespace Latch\Benchmark;

use Latch\Symfony\Messenger\Lock;

/**
 * A message with one lock, where the bus has the bundle. Elsewhere the attribute has no effect.
 */
#[Lock('order-{id}')]
final class Order
{
    public function __construct(public readonly int $id)
    {
    }
}
