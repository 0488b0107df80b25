--TEST--
latch run and status with locks in PostgreSQL and MySQL: they exclude, wait, show the session, and never a password
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_sql.inc';

foreach ([Ground::postgresql(), Ground::mysql()] as $ground) {
    $server = $ground->server;
    foreach (['PDO form' => $server->dsn(), 'URL' => $server->url()] as $case => $dsn) {
        $case = "$ground->name, $case";
        $store = "--store=$dsn";
        check_same("exit 0: free\n|", latch_to_end('status', $store, 'job'), "$case: never locked");
        $program = latch_run_cat($store, 'job');
        check_same('exit 75: |', latch_to_end('run', $store, '-q', 'job', '--', 'echo', 'no'), "$case: excluded");
        check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=3', 'job', '--', 'echo', 'no'), "$case: for a while");
        check_same(
            "exit 75: held, exclusive, by session {$ground->store()->inspect(new Latch\Key('job'))['holders'][0]['session']}\n|",
            latch_to_end('status', $store, 'job'),
            "$case: held"
        );
        $said = latch_to_end('run', $store, 'job', '--', 'echo', 'no');
        check(preg_match('/^exit 75: \|latch: "job" is locked by session \d+\n$/D', $said) === 1, "$case: who excludes: $said");
        $waiting = latch('run', $store, '--wait', 'job', '--', 'echo', 'next');
        $server->awaitWaiting(1);
        check_same('', $waiting->out(), "$case: not yet");
        $program->let_go()->ending();
        check_same("exit 0: next\n|", $waiting->all(), "$case: the next one");

        /* A signal ends the wait. */
        $holder = $ground->holder('job');
        $waiting = latch('run', $store, '--wait', 'job', '--', 'echo', 'no');
        $server->awaitWaiting(1);
        check_same('exit 143: |', $waiting->kill(SIGTERM)->all(), "$case: SIGTERM while waiting");
        $holder->rows($ground->giving('job'));
        $server->awaitHeld(0);

        /* The lock goes with latch itself, and the command goes on. */
        $program = latch_run_cat($store, 'job');
        [$command] = children_of($program->pid);
        check_same('signal 9', $program->kill(SIGKILL)->ending(), "$case: latch is killed");
        $server->awaitHeld(0);
        check(posix_kill($command, 0), "$case: the command lives");
        $program->let_go();
    }

    /* The session ends while the command runs. */
    foreach ([[], ['--shared']] as $options) {
        if ($options !== [] && !$ground->hasSharedLocks()) {
            continue;
        }
        $program = latch_run_cat("--store={$server->dsn()}", 'job', ...$options);
        $server->endSessions();
        check_same(
            "exit 76: running\n|latch: the lock \"job\" was lost: what held it in its store has ended; the command is to end\n",
            $program->all(),
            "$ground->name: the session ends"
        );
    }

    if ($ground->hasSharedLocks()) {
        $one = latch('run', $store, '--shared', 'job', '--', 'cat');
        $two = latch('run', $store, '--shared', 'job', '--', 'cat');
        wait_until(fn () => preg_match('/^exit 75: held, shared, by sessions \d+, \d+\n\|$/D', latch_to_end('status', $store, 'job')) === 1,
            'two readers are shown');
        $one->let_go()->ending();
        $two->let_go()->ending();
    }
    check_same(
        "exit 69: |latch: Failed to store the \"job\" lock: cannot connect to $ground->name at ADDRESS: REFUSED\n",
        preg_replace('/: [^:]*([Aa]ccess denied|authentication failed).*(?=\n)/', ': REFUSED',
            $ground->plain(latch_to_end('run', '--store=' . $server->dsn('', 'wrong-4711'), 'job', '--', 'true'))),
        "$ground->name: a wrong password"
    );
    $said = latch_to_end('status', "--store=$dsn?nonsense=" . $server::PASSWORD, 'job');
    check(str_starts_with($said, 'exit 64: |latch: the store is not usable: invalid '), $said);
    check(!str_contains($said, $server::PASSWORD), "no password is shown: $said");
}
echo "done\n";
--EXPECT--
done
