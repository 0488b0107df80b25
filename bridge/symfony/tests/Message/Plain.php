<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

final class Plain
{
    public function __construct(public readonly string|int $id = 'x')
    {
    }
}
