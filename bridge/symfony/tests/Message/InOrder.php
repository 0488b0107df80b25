<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Ordered;

#[Ordered('{key}')]
final class InOrder
{
    public function __construct(public readonly int $id, public readonly string $key = 'k')
    {
    }
}
