<?php

// lock.rst, "Serializing Locks": a message with a key
namespace App\Message;

use Symfony\Component\Lock\Key;

final class CountStock
{
    public function __construct(public readonly object $article, private readonly Key $key)
    {
    }

    public function getKey(): Key
    {
        return $this->key;
    }
}
