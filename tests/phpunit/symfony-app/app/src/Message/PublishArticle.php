<?php

declare(strict_types=1);

namespace App\Message;

final class PublishArticle
{
    public function __construct(public readonly string $article)
    {
    }
}
