<?php

/**
 * A worker process: worker.php NAME KIND WHERE RESOURCES SEED DIRECTORY run|probe
 *
 * KIND is latch, symfony or the name of a Breakage, RESOURCES are names, separated by commas; the records go
 * to DIRECTORY/NAME.records.
 */

declare(strict_types=1);

namespace Latch\Tests\Fault;

use Latch\Tests\Fault\Broken\BrokenSubject;
use Latch\Tests\Fault\Broken\Breakage;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Worker\LatchSubject;
use Latch\Tests\Fault\Worker\SymfonySubject;
use Latch\Tests\Fault\Worker\Worker;

require __DIR__ . '/autoload.php';

set_error_handler(static function (int $type, string $message, string $file, int $line): never {
    throw new \ErrorException($message, 0, $type, $file, $line);
});

[, $name, $kind, $where, $resources, $seed, $directory, $what] = $argv;
$subject = match ($kind) {
    'latch' => new LatchSubject($where),
    'symfony' => new SymfonySubject($where),
    default => new BrokenSubject($where, Breakage::from($kind)),
};
$worker = new Worker(
    $subject,
    new Writer("$directory/$name." . History::EXTENSION),
    explode(',', $resources),
    (int) $seed,
);
$worker->introduce($kind);
$what === 'probe' ? $worker->probe() : $worker->run();
