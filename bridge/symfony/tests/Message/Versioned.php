<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

use Latch\Symfony\Messenger\IfNewer;

#[IfNewer('user', version: '{id}')]
final class Versioned
{
    public function __construct(public readonly mixed $id)
    {
    }
}
