<?php

/**
 * A worker process: worker.php NAME KIND WHERE RESOURCES SEED DIRECTORY run|probe
 *
 * KIND is latch, pdo (Latch with a \PDO object), object (with a \RedisCluster object), keeper (Latch with locks that
 * are kept alive), heir (keys between Latch and Symfony), symfony, symfony-RELEASE, laravel, a Primitive or the name of
 * a Breakage, RESOURCES are names, separated by commas; the records go to DIRECTORY/NAME.records.
 */

declare(strict_types=1);

namespace Latch\Tests\Fault;

use Latch\Tests\Fault\Broken\BrokenSubject;
use Latch\Tests\Fault\Broken\Breakage;
use Latch\Tests\Fault\Broken\BrokenTableSubject;
use Latch\Tests\Fault\Broken\SessionSubject;
use Latch\Tests\Fault\Record\CallWriter;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Teller;
use Latch\Tests\Fault\Record\Writer;
use Latch\Tests\Fault\Run\Primitive;
use Latch\Tests\Fault\Run\Release;
use Latch\Tests\Fault\Worker\Caller;
use Latch\Tests\Fault\Worker\HeirSubject;
use Latch\Tests\Fault\Worker\LaravelSubject;
use Latch\Tests\Fault\Worker\LaravelTableSubject;
use Latch\Tests\Fault\Worker\LatchSubject;
use Latch\Tests\Fault\Worker\MultiLockSubject;
use Latch\Tests\Fault\Worker\SemaphoreSubject;
use Latch\Tests\Fault\Worker\SymfonySubject;
use Latch\Tests\Fault\Worker\SymfonyTableSubject;
use Latch\Tests\Fault\Worker\TablePlace;
use Latch\Tests\Fault\Worker\TableSubject;
use Latch\Tests\Fault\Worker\Worker;

require __DIR__ . '/autoload.php';

set_error_handler(static function (int $type, string $message, string $file, int $line): bool {
    if (str_contains($message, 'PDO')) {
        return true; // mysqlnd warns, and PDO throws
    }
    throw new \ErrorException($message, 0, $type, $file, $line);
});

[, $name, $kind, $where, $resources, $seed, $directory, $what] = $argv;
$primitive = Primitive::tryFrom($kind);
if ($primitive?->isCalled() === true) {
    $records = new CallWriter(new Writer("$directory/$name." . History::EXTENSION));
    $caller = new Caller($primitive, $records, $where, explode(',', $resources), (int) $seed, $directory);
    $what === 'probe' ? $caller->end() : $caller->run();
    exit(0);
}
$table = TablePlace::of($where);
$subject = match (true) {
    $table === null => null,
    str_starts_with($kind, Release::KIND) => new SymfonyTableSubject($table, $kind === Release::Five->kind()),
    $kind === 'laravel' => new LaravelTableSubject($table),
    $kind === 'heir' => new HeirSubject($table),
    $kind === 'latch', $kind === 'pdo' => new TableSubject($table, $kind === 'pdo'),
    default => new BrokenTableSubject($table, Breakage::from($kind)),
};
$subject ??= match ($kind) {
    'latch', 'pdo', 'object', 'keeper' => new LatchSubject(
        $where,
        $kind === 'pdo' || $kind === 'object',
        $kind === 'keeper',
    ),
    'symfony' => new SymfonySubject($where),
    'laravel' => new LaravelSubject($where),
    Primitive::Semaphore->value, Primitive::KeptSemaphore->value => new SemaphoreSubject(
        $where,
        $kind === Primitive::KeptSemaphore->value,
    ),
    Primitive::MultiLock->value => new MultiLockSubject($where, explode(',', $resources)),
    default => Breakage::from($kind)->needsSessions()
        ? new SessionSubject($where, Breakage::from($kind))
        : new BrokenSubject($where, Breakage::from($kind)),
};
$worker = null;
// A session may hold several locks, which must exclude each other by what this process knows.
$isSession = \in_array(Teller::SESSION, $subject->traits(), true);
foreach ($isSession && $kind !== 'symfony' ? [Faults::SECOND_HAND, ''] : [''] as $hand) {
    $records = new Writer("$directory/$name$hand." . History::EXTENSION);
    $worker = new Worker($subject, $records, explode(',', $resources), (int) $seed + ($hand === '' ? 0 : 1), $worker);
}
$worker->introduce($kind);
if ($what === 'probe') {
    $worker->probe();
} else {
    $worker->run();
    if ($isSession) {
        // What it forgot to give back its session has still.
        pcntl_sigwaitinfo([SIGTERM]);
    }
}
