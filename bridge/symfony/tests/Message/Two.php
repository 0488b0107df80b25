<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Lock;

#[Lock('b-{id}')]
#[Lock('a-{id}')]
final class Two
{
    public function __construct(public readonly string|int $id = 'x')
    {
    }
}
