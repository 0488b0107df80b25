--TEST--
Locks, semaphores and members of multi-locks that a script left to its end are counted, however it ended; those that it gave back are not
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';

$server = new BuiltInServer();
$take = '
    class Registry { public static array $locks = []; }
    $flock = new Lock(new Key("file"), new FlockStore($directory));
    $php = new Lock(new Key("php"), new RecordingStore($directory));
    $flock->acquire() && $php->acquire() || exit("not acquired");
';
$endings = [
    'released' => ['$flock->release(); $php->release();', 0],
    'unset' => ['unset($flock, $php);', 0],
    'left to the end of a function' => ['(function () use (&$flock, &$php) {
            [$here, $there] = [$flock, $php];
            $flock = $php = null;
        })();', 0],
    'left to the end of the script' => ['', 2],
    'left to exit()' => ['exit(3);', 2],
    'left in a static property' => ['Registry::$locks = [$flock, $php]; unset($flock, $php);', 2],
    'left in a cycle' => ['$node = new stdClass(); $node->self = [$node, $flock, $php]; unset($node, $flock, $php);', 2],
    'left to an exception' => ['throw new RuntimeException("nobody catches this");', 2],
    'left to a fatal error' => ['@trigger_error("the end", E_USER_ERROR);', 2],
    'left to a fatal error, in a static property' => [
        'Registry::$locks = [$flock, $php]; unset($flock, $php); @trigger_error("the end", E_USER_ERROR);', 2],
    'inside synchronized()' => ['$flock->release(); $flock->synchronized(function () {
            @trigger_error("the end", E_USER_ERROR); });', 2],
    'one of two' => ['$php->release();', 1],
    'released by a shutdown function' => ['register_shutdown_function(fn () => $flock->release());', 1],
    'not to be released' => ['unset($php); $flock->release();
        $kept = new Lock(new Key("kept"), new FlockStore($directory), null, false); $kept->acquire();', 0],
    'a multi-lock' => ['unset($flock, $php);
        $multi = (new Latch\LockFactory(new FlockStore($directory)))->createMultiLock(["a", "b"]); $multi->acquire();', 2],
    'a multi-lock, to a fatal error' => ['unset($flock, $php);
        $multi = (new Latch\LockFactory(new RecordingStore($directory)))->createMultiLock(["a", "b"]); $multi->acquire();
        @trigger_error("the end", E_USER_ERROR);', 2],
    'a semaphore' => ['unset($flock, $php);
        $semaphore = new Latch\Semaphore\Semaphore(new Latch\Semaphore\Key("s", 1), new Latch\Semaphore\Store\LockStore(
            new Latch\LockFactory(new FlockStore($directory)))); $semaphore->acquire();', 1],
    'lost before' => ['array_map("unlink", glob("$directory/" . sha1("php"))); $flock->release();', 0],
];
$server->script('statistics', 'echo json_encode(["pid" => getmypid(), "releasedAtShutdown" => array_sum(array_map(
    fn (string $class) => $class::getStatistics()["releasedAtShutdown"], [Lock::class, Latch\MultiLock::class, Latch\Semaphore\Semaphore::class]))]);');
try {
    $before = json_decode($server->ask('statistics'), true);
    foreach ($endings as $name => [$end, $expected]) {
        $server->script('first', $take . $end);
        check_same('', $server->ask('first'), "the answer ($name)");
        $after = json_decode($server->ask('statistics'), true);
        check_same($before['pid'], $after['pid'], 'one worker, whose counters go on');
        check_same($expected, $after['releasedAtShutdown'] - $before['releasedAtShutdown'], $name);
        $before = $after;
    }
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
