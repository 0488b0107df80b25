<?php

declare(strict_types=1);

namespace App\Message;

final class OpenAccount implements HandledAtOnce
{
    public function __construct(public readonly string $owner)
    {
    }
}
