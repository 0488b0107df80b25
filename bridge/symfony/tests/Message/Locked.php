<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Lock;

#[Lock('item-{id}')]
final class Locked
{
    public function __construct(public readonly string|int $id = 'x')
    {
    }
}
