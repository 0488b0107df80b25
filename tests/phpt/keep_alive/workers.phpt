--TEST--
FPM: the thread begins in the worker that keeps a lock, stays for its requests, and renews nothing between them
--SKIPIF--
<?php
if (getenv('LATCH_TEST_NO_FPM') === '1') {
    die('skip LATCH_TEST_NO_FPM=1: this PHP has no FPM');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Tests\RedisServer;

$redis = new RedisServer();
$server = new Fpm();
try {
    $open = '
        $store = new Latch\Store\RedisStore("' . $redis->dsn() . '");
        $make = fn (string $name, bool $auto) => new Lock(new Key($name), $store, 3, $auto);
    ';
    $server->script('look', '
        preg_match("/^PPid:\s+(\d+)/m", file_get_contents("/proc/self/status"), $match);
        echo getmypid(), " ", thread_count(getmypid()), " ", thread_count((int) $match[1]);
    ');
    $server->script('keep', $open . '
        class Registry { public static array $locks = []; }
        Registry::$locks = [$make("automatic", true)->keepAlive(), $make("left", false)->keepAlive()];
        foreach (Registry::$locks as $lock) {
            $lock->onLost(fn () => file_put_contents("$directory/told", "told"));
            if (!$lock->acquire()) {
                echo "not acquired ";
            }
        }
        echo thread_count(getmypid());
        if (file_exists("$directory/fatal")) {
            @trigger_error("the end", E_USER_ERROR);
        }
    ');
    [$pid, $threads, $masters] = explode(' ', $server->ask('look'));
    check_same('1', $threads, 'threads of a worker that has kept nothing');
    check_same('1', $masters, 'threads of the master');
    $connections = null;
    foreach (['return', 'fatal error', 'return'] as $times => $end) {
        $end === 'fatal error' ? touch("$server->directory/fatal") : @unlink("$server->directory/fatal");
        check_same('2', $server->ask('keep'), "$end: threads of a worker that keeps a lock");
        wait_until(fn () => $redis->lacks('automatic'), "$end: what is released at the end of the request");
        check(!$redis->lacks('left'), "$end: what is not");
        $connections ??= count($redis->clients());
        wait_until(fn () => $redis->lacks('left'), "$end: it is not renewed when the request has ended");
        check_same("$pid 2 1", $server->ask('look'), "$end: the worker, and threads");
        check_same($connections, count($redis->clients()), "$end: connections");
    }
    check(!file_exists("$server->directory/told"), 'nobody is told of what a past request had');
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
