<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Once;

#[Lock('item-{id}')]
#[Once('batch-{id}')]
final class Batched
{
    public function __construct(public readonly string|int $id = 'x')
    {
    }
}
