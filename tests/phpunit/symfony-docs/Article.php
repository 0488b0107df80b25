<?php

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

/** What one of the examples works on. */
final class Article
{
    public function __construct(private readonly int $id)
    {
    }

    public function getId(): int
    {
        return $this->id;
    }
}
