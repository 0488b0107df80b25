--TEST--
A worker gives back at the end of each request, keeps its connections, and goes on without a silent server
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';
require __DIR__ . '/../../utils/redis.inc';

use Latch\Tests\RedisServer;

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$stores = implode(', ', array_map(
    fn ($server) => 'new Latch\Store\RedisStore(' . var_export($server->dsn('?read_timeout=1'), true) . ')',
    $servers
));
$worker = new BuiltInServer();
try {
    foreach ([
        'return' => '',
        'exit' => 'exit;',
        'exception' => 'throw new Exception();',
        'error' => '@trigger_error("the end", E_USER_ERROR);',
    ] as $ending => $end) {
        foreach (['' => 'native', ', new RecordingStore($directory)' => 'mixed'] as $more => $kind) {
            $worker->script("$ending-$kind", "
                class Held { public static array \$locks = []; }
                \$store = new Latch\\Store\\CombinedStore([$stores $more], new Latch\\Strategy\\ConsensusStrategy());
                Held::\$locks[] = \$lock = new Lock(new Key('r'), \$store, 100);
                echo var_export(\$lock->acquire(), true);
                Held::\$locks[] = \$other = new Lock(new Key('other'), \$store, 100);
                echo var_export(\$other->acquireRead(), true);
                \$lock->refresh();
                \$other->refresh();
                $end");
            foreach ([1, 2, 3] as $time) {
                check_same('truetrue', $worker->ask("$ending-$kind"), "$kind, $ending, $time");
                foreach ($servers as $at => $server) {
                    wait_until(fn () => $server->lacks('r') && $server->lacks('other'), "$kind, $ending: released on server $at");
                }
            }
            foreach ($servers as $at => $server) {
                $clients = $server->clients();
                $first[$at] ??= $clients;
                check_same(1, count($clients), "$kind, $ending: connections to server $at");
                check_same($first[$at], $clients, "$kind, $ending: it is the same connection to server $at");
            }
        }
    }
    check(!(new RecordingStore($worker->directory))->is_locked('r'), 'released in PHP');

    /* Without a server that is frozen. */
    $servers[1]->freeze();
    $worker->script('silent', "
        \$store = new Latch\\Store\\CombinedStore([$stores], new Latch\\Strategy\\ConsensusStrategy());
        \$lock = new Lock(new Key('r'), \$store, 100);
        echo var_export(\$lock->acquire() && \$lock->isAcquired(), true);");
    foreach ([1, 2, 3] as $time) {
        check_same('true', $worker->ask('silent'), "silent, $time");
    }
    $servers[1]->thaw();
    foreach ($servers as $at => $server) {
        wait_until(fn () => $server->lacks('r'), "nothing is left on server $at");
    }
} finally {
    $worker->stop();
}
echo "done\n";
--EXPECT--
done
