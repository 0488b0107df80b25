<?php

declare(strict_types=1);

namespace App\Messenger;

use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;

/**
 * Which serializer the transports have: it is chosen when a process starts, so that one container serves all.
 */
final class Serialization
{
    public function __construct(
        private readonly SerializerInterface $php,
        private readonly SerializerInterface $json,
        private readonly string $chosen,
    ) {
    }

    public function serializer(): SerializerInterface
    {
        return match ($this->chosen) {
            'php' => $this->php,
            'json' => $this->json,
            default => throw new \InvalidArgumentException("There is no serializer \"$this->chosen\"."),
        };
    }
}
