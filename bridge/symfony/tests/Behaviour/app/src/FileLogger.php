<?php

declare(strict_types=1);

namespace App;

use Psr\Log\AbstractLogger;

/**
 * Appends to a file: a line each, and the exceptions behind it.
 */
final class FileLogger extends AbstractLogger
{
    public function __construct(private readonly string $file)
    {
    }

    /**
     * @param array<string, mixed> $context
     */
    public function log($level, string|\Stringable $message, array $context = []): void
    {
        $values = [];
        foreach ($context as $name => $value) {
            if (\is_scalar($value) || $value instanceof \Stringable && !$value instanceof \Throwable) {
                $values["{{$name}}"] = (string) $value;
            }
        }
        $line = "$level: " . strtr((string) $message, $values);
        for ($e = $context['exception'] ?? null; $e instanceof \Throwable; $e = $e->getPrevious()) {
            $line .= ' <- ' . $e::class . ': ' . $e->getMessage();
        }
        file_put_contents($this->file, strtr($line, "\n", ' ') . "\n", \FILE_APPEND);
    }
}
