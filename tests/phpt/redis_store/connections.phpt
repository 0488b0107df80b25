--TEST--
RedisStore: a worker keeps its connection from request to request, and replaces one that has died
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';
require __DIR__ . '/../../utils/redis.inc';

use Latch\Tests\RedisServer;

foreach (['FPM' => fn () => new Fpm(), 'built-in server' => fn () => new BuiltInServer()] as $name => $start) {
    $redis = new RedisServer();
    $dsn = var_export($redis->dsn(), true);
    $worker = $start();
    try {
        foreach ([
            'return' => '',
            'exit' => 'exit;',
            'exception' => 'throw new Exception();',
            'error' => '@trigger_error("the end", E_USER_ERROR);',
        ] as $ending => $end) {
            $worker->script($ending, "
                \$lock = new Lock(new Key('r'), new Latch\\Store\\RedisStore($dsn));
                echo var_export(\$lock->acquire(), true);
                \$other = new Lock(new Key('other'), new Latch\\Store\\RedisStore($dsn));
                echo var_export(\$other->acquireRead(), true);
                $end");
            foreach ([1, 2] as $time) {
                check_same('truetrue', $worker->ask($ending), "$name, $ending, $time");
                check($redis->lacks('r') && $redis->lacks('other'), "$name, $ending: all is released");
                $clients = $redis->clients();
                $first ??= $clients;
                check_same(1, count($clients), "$name, $ending: connections");
                check_same($first, $clients, "$name, $ending: it is the same connection");
            }
        }

        /* Dead while it was idle: nobody hears of it. */
        foreach ([
            'killed' => fn () => $redis->command('CLIENT', 'KILL', 'TYPE', 'normal'),
            'restarted' => fn () => $redis->restart(),
        ] as $fault => $strike) {
            $strike();
            check_same('truetrue', $worker->ask('return'), "$name, $fault");
            check_same('truetrue', $worker->ask('return'), "$name, $fault, again");
            check_same(1, count($redis->clients()), "$name, $fault: connections");
            check($redis->lacks('r'), "$name, $fault: released");
        }
    } finally {
        $worker->stop();
    }
    unset($first);
}

/* Who asks for the same has the same connection; another database or another user has another. */
$redis = new RedisServer();
$stores = [];
foreach (['', '', '/0', '?timeout=5', '/1', '/1', '?persistent_id=a', '?persistent_id=a', '?read_timeout=7'] as $rest) {
    $stores[] = $store = new Latch\Store\RedisStore($redis->dsn($rest));
    (new Latch\Lock(new Latch\Key('r'), $store))->acquire();
    $counts[] = count($redis->clients());
}
check_same([1, 1, 1, 1, 2, 2, 3, 3, 4], $counts, 'connections');

/* So many stay open when nobody uses them any more, and not one more. */
$redis = new RedisServer();
$stores = [];
for ($number = 0; $number < 20; $number++) {
    $stores[] = $store = new Latch\Store\RedisStore($redis->dsn("?persistent_id=$number"));
    (new Latch\Lock(new Latch\Key('r'), $store))->acquireRead();
}
check_same(20, count($redis->clients()), 'connections in use');
unset($store, $stores);
wait_until(fn () => count($redis->clients()) === 8, 'all but 8 of them are closed');
echo "done\n";
--EXPECT--
done
