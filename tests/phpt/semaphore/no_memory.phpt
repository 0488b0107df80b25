--TEST--
Where memory runs out a store of semaphores throws a semaphore's exception, and one of locks a lock's
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip PHP has no heap of its own there, and ends where memory runs out');
}
if (!is_file('/usr/bin/prlimit')) {
    die('skip prlimit is missing');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

/*
 * PHP's own heap has room for the objects, and the system gives no more memory: then malloc() fails, by which the
 * engine allocates. PHP's persistent memory comes from there, too, and PHP ends where that fails first, which depends
 * on what is left. So an attempt is made anew with some bytes more in use.
 */
$script = temporary_directory() . '/child.php';
file_put_contents($script, '<?php
    $most = 50000;
    $stores = array_fill(0, $most, null);
    foreach ([64, 80, 96, 112, 128, 160, 192] as $size) {
        for ($room[$size] = [], $at = 0; $at < $most; $at++) {
            $room[$size][] = str_repeat("x", $size - 25);
        }
    }
    for ($at = 0; $at < $most; $at++) {
        $room["objects"][] = new stdClass();
    }
    $class = "Latch\\\\$argv[1]";
    $stores[0] = new $class();
    putenv("PAD=" . str_repeat("x", 16 * $argv[2] + 1));
    preg_match("/^VmSize:\s+(\d+) kB$/m", file_get_contents("/proc/self/status"), $match);
    exec("prlimit --pid=" . getmypid() . " --as=" . 1024 * $match[1], $output, $failed);
    $room = null;
    try {
        for ($at = 1; $at < $most; $at++) {
            $stores[$at] = new $class();
        }
        echo "there was memory\n";
    } catch (Throwable $e) {
        echo get_class($e), ": ", $e->getMessage(), "\n";
    }
');
foreach (['Semaphore\Store\InMemoryStore' => 'Latch\Semaphore\Exception\SemaphoreStorageException', 'Store\InMemoryStore' => 'Latch\Exception\LockStorageException'] as $class => $exception) {
    for ($attempt = 0, $said = ''; $attempt < 64 && !str_contains($said, 'Exception'); $attempt++) {
        $process = proc_open(php_command($script, $class, (string) $attempt), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
        $said = stream_get_contents($pipes[1]);
        proc_close($process);
    }
    check_same("$exception: out of memory\n", $said, $class);
}
echo "done\n";
--EXPECT--
done
