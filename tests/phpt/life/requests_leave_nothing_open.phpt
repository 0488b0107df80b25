--TEST--
A worker keeps no descriptor, thread or memory of the locks of its past requests
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';

$server = new BuiltInServer();
try {
    /* 100 files: more than stay open for the next lock. All still held when the request dies. */
    $server->script('first', '
        class Registry { public static array $locks = []; }
        $store = new FlockStore($directory);
        for ($i = 0; $i < 100; $i++) {
            Registry::$locks[] = $lock = new Lock(new Key("file $i"), $store);
            $lock->acquire();
        }
        for ($i = 0; $i < 20; $i++) {
            @mkdir("$directory/$i");
            $lock = new Lock(new Key("file"), new FlockStore("$directory/$i"));
            $lock->acquire();
            try {
                (new Lock(new Key("file"), new FlockStore("$directory/$i")))->acquire(true, 0.001);
            } catch (Throwable) {
            }
        }
        echo "ok";
        @trigger_error("the end", E_USER_ERROR);
    ');
    $server->script('count', '$open = what_is_open(); echo $open["fds"], " ", $open["threads"];');
    check_same('ok', $server->ask('first'), 'first');
    check_same('ok', $server->ask('first'), 'second');
    [$before, $threads] = explode(' ', $server->ask('count'));
    check_same('1', $threads, 'threads');
    for ($i = 0; $i < 5; $i++) {
        check_same('ok', $server->ask('first'), 'again');
    }
    check_same("$before 1", $server->ask('count'), 'descriptors and threads');
    check((int) $before < 90, "a bounded number of idle files: $before descriptors");
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
