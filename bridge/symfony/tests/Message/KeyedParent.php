<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Message;

abstract class KeyedParent
{
    private string $inherited = 'parent';
}
