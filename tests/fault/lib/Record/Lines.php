<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Record;

/**
 * The records of one file.
 */
final class Lines
{
    /**
     * @return \Generator<int, list<string>> by the lines' numbers; a last line that was cut short is none
     */
    public static function of(string $file): \Generator
    {
        $stream = fopen($file, 'r');
        if ($stream === false) {
            throw new \RuntimeException("Cannot read $file");
        }
        for ($number = 1; ($line = fgets($stream)) !== false && str_ends_with($line, "\n"); ++$number) {
            $record = explode(' ', substr($line, 0, -1));
            if (!isset($record[1]) || !ctype_digit($record[1])) {
                throw new \UnexpectedValueException("$file, line $number: no record");
            }
            yield $number => $record;
        }
        fclose($stream);
    }
}
