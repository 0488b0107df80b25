<?php

/**
 * A process that runs examples, or contends with one that does: one JSON array with a method of Application
 * and its arguments per line on standard input; on descriptor 3 one JSON array per line: "returned" or
 * "thrown" with the result, or "asked" with a question to the other process, whose answer comes by standard
 * input. Standard output is that of the examples.
 *
 * Argument: whether it is meant to be on Latch.
 */

declare(strict_types=1);

namespace Latch\Tests\SymfonyDocs;

require __DIR__ . '/autoload.php';

if (($argv[1] === 'latch') !== (\extension_loaded('latch') && \ini_get('latch.symfony'))) {
    fwrite(STDERR, "This process is not what was asked for: $argv[1].\n");
    exit(2);
}

$out = fopen('php://fd/3', 'w');
$hear = static function (): array {
    $line = fgets(STDIN);

    return $line === false ? exit(0) : json_decode($line, true, 16, JSON_THROW_ON_ERROR);
};
$say = static function (string $kind, mixed $what) use ($out): void {
    fwrite($out, json_encode([$kind, $what], JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION) . "\n");
};
$application = new Application(static function (string $method, mixed ...$arguments) use ($hear, $say): mixed {
    $say('asked', [$method, ...$arguments]);

    return $hear()[0];
});
while ($message = $hear()) {
    try {
        $say('returned', $application->{array_shift($message)}(...$message));
    } catch (\Throwable $e) {
        $say('thrown', $e::class . ': ' . $e->getMessage() . ' at ' . $e->getFile() . ':' . $e->getLine());
    }
}
