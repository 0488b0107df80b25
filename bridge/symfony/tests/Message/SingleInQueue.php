<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Once;

#[Once('job-{id}', until: 'received')]
final class SingleInQueue
{
    public function __construct(public readonly string|int $id = 'x')
    {
    }
}
