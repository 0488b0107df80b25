--TEST--
A fatal error during a wait leaves a surviving worker without thread, descriptor or lock
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';

$server = new BuiltInServer();
try {
    $server->script('count', '$open = what_is_open(); echo getmypid(), " ", $open["fds"], " ", $open["threads"];');
    $server->script('wait', '
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, fn () => @trigger_error("in the handler", E_USER_ERROR));
        (new Lock(new Key("file"), new FlockStore($directory)))->acquire(true);
        echo "BROKEN";
    ');
    $server->script('warm', '(new Lock(new Key("file"), new FlockStore($directory)))->acquire(true, 0.01);');
    $holder = holder($server->directory, 'file');
    $server->ask('warm'); // what stays open for the next time
    $before = $server->ask('count');
    $pid = (int) $before;
    $killer = fork(function () use ($pid) {
        wait_until_it_waits($pid);
        posix_kill($pid, SIGUSR1);
        return 0;
    });
    // one round: pcntl leaves all signals blocked in a process after a fatal error in a handler
    check_same('', $server->ask('wait'), 'the dying request');
    $killer->ending();
    check_same($before, $server->ask('count'), 'descriptors and threads');
    $holder->say('release');
    $holder->hear_exactly('released');
    for ($i = 0; $i < 50; $i++) {
        check(is_free($server->directory, 'file'), 'nobody takes it later');
        usleep(1000);
    }
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
