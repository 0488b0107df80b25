<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\Once;

#[Once('anything')]
final class Anything
{
    public function __construct(public readonly mixed $content)
    {
    }
}
