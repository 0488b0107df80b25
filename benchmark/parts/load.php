<?php

/*
 * load.php RUNS FOLDER: the nanoseconds of processor time (user and system) that a start of PHP takes, run by run:
 * without the extension and with it, with nothing to do, with a file to lock, and with a store whose client library is
 * opened. Processor time, as the wall clock also counts whatever else the machine does.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

[, $runs, $folder] = $argv;

$php = [PHP_BINARY, '-n'];
$latch = [...$php, '-d', 'extension=' . getenv('LATCH_SO')];
$commands = [
    'without' => [...$php, '-r', ''],
    'with' => [...$latch, '-r', ''],
    'by hand' => [...$php, '-r', sprintf(
        '$f = fopen(%s . "/by-hand", "c+"); flock($f, LOCK_EX | LOCK_NB) || exit(1); flock($f, LOCK_UN); fclose($f);',
        var_export($folder, true),
    )],
    'flock' => [...$latch, '-r', sprintf(
        '$store = new Latch\Store\FlockStore(%s); $lock = (new Latch\LockFactory($store))->createLock("r");'
            . ' $lock->acquire() || exit(1); $lock->release();',
        var_export($folder, true),
    )],
    'redis' => [...$latch, '-r', 'new Latch\Store\RedisStore("redis://localhost");'],
    'redis, TLS' => [...$latch, '-r', 'new Latch\Store\RedisStore("rediss://localhost");'],
    'postgresql' => [...$latch, '-r', 'new Latch\Store\PostgreSqlStore("pgsql:host=localhost");'],
    'mysql' => [...$latch, '-r', 'new Latch\Store\MysqlStore("mysql:host=localhost");'],
];

/** Of all children that have ended. */
$childrensTime = static function (): int {
    $usage = getrusage(1);

    return 1000 * (1_000_000 * ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'])
        + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']);
};
$time = static function (array $command) use ($childrensTime): int {
    $before = $childrensTime();
    if (proc_close(proc_open($command, [], $pipes)) !== 0) {
        throw new \RuntimeException('failed: ' . implode(' ', $command));
    }

    return $childrensTime() - $before;
};

$times = array_fill_keys(array_keys($commands), []);
for ($i = 0; $i < (int) $runs; ++$i) {
    foreach ($commands as $name => $command) {
        $times[$name][] = $time($command);
    }
}

echo json_encode($times, JSON_THROW_ON_ERROR);
