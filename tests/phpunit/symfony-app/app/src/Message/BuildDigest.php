<?php

declare(strict_types=1);

namespace App\Message;

final class BuildDigest
{
    public function __construct(public readonly string $at)
    {
    }
}
