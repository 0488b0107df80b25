<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Support;

use Psr\Log\AbstractLogger;

final class Log extends AbstractLogger
{
    /** @var list<string> */
    public array $lines = [];

    /**
     * @param array<string, mixed> $context
     */
    public function log($level, string|\Stringable $message, array $context = []): void
    {
        $values = [];
        foreach ($context as $name => $value) {
            if (\is_scalar($value)) {
                $values["{{$name}}"] = (string) $value;
            }
        }
        $this->lines[] = "$level: " . strtr((string) $message, $values);
    }
}
