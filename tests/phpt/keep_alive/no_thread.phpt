--TEST--
Where no thread can be had keepAlive() says so, and nothing is taken that could not be kept
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip valgrind needs files of its own');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$script = tempnam(sys_get_temp_dir(), 'latch-phpt-');
file_put_contents($script, '<?php
    use Latch\{Key, Lock};
    use Latch\Store\RedisStore;

    $store = new RedisStore($argv[1]);
    $lock = new Lock(new Key("r"), $store, 60);
    $lock->acquire(); // the connection is there from now on
    $lock->release();
    $later = (new Lock(new Key("later"), new RedisStore($argv[1] . "?prefix=p:"), 60));
    while (($files[] = @fopen("/dev/null", "r")) !== false) {
    }
    foreach (["keepAlive" => fn () => $lock->keepAlive(), "onLost" => fn () => $lock->onLost(fn () => null)] as $name => $call) {
        try {
            $call();
            echo "$name() does nothing\n";
        } catch (Throwable $e) {
            echo get_class($e), ": ", $e->getMessage(), "\n";
        }
    }
    ini_set("latch.keep_alive", 1);
    echo $lock->acquire() ? "acquired without\n" : "not acquired\n";
    $lock->release();
    ini_set("latch.keep_alive", 0);

    /* With files to be had it can be kept. In a child of the process it is kept anew. */
    $files = [];
    $lock->keepAlive();
    if (pcntl_fork() === 0) {
        while (($files[] = @fopen("/dev/null", "r")) !== false) {
        }
        try {
            $lock->acquire();
            echo "acquired, and not kept\n";
        } catch (Throwable $e) {
            echo get_class($e), " <- ", get_class($e->getPrevious()), ": ", $e->getPrevious()->getMessage(), "\n";
        }
        exit;
    }
    pcntl_wait($status);
    echo $lock->acquire() && $lock->isHeld() ? "held\n" : "not held\n";
');
$process = proc_open(['prlimit', '--nofile=40', ...php_command($script, $server->dsn())], [1 => ['pipe', 'w']], $pipes);
echo preg_replace('/: Too many open files/', ': …', stream_get_contents($pipes[1]));
check_same(0, proc_close($process), 'the exit code');
check($server->lacks('r'), 'nothing is left');
unlink($script);
echo "done\n";
--EXPECT--
Latch\Exception\LockStorageException: The "r" lock cannot be kept alive: cannot start the thread that renews locks: ….
Latch\Exception\LockStorageException: The "r" lock cannot be watched: cannot start the thread that renews locks: ….
acquired without
Latch\Exception\LockAcquiringException <- Latch\Exception\LockStorageException: Failed to store the "r" lock: cannot start the thread that renews locks: ….
held
done
