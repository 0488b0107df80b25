--TEST--
RedisStore: nothing waits longer than it is told for a server that does not answer
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

/** Ends in time, with what is expected. */
function ends(mixed $expected, float $least, callable $call, string $case): void
{
    $begun = hrtime(true);
    check_same($expected, attempt($call, $case), $case);
    $seconds = (hrtime(true) - $begun) / 1e9;
    check($seconds >= $least && $seconds < $least + PATIENCE / 2, "$case: it takes $seconds s");
}

/* The server takes the command, and does not answer. */
$server = new RedisServer();
$lock = redis_lock($server, '?read_timeout=0.6');
foreach ([false, true] as $held) {
    foreach ([
        'acquire' => ['throws', 0.6, fn () => $lock->acquire()],
        'acquireRead' => ['throws', 0.6, fn () => $lock->acquireRead()],
        'acquire and wait' => ['throws', 0.6, fn () => $lock->acquire(true)],
        'acquire and wait less' => ['throws', 0.05, fn () => $lock->acquire(true, 0.05)],
        'refresh' => ['throws', 0.6, fn () => $lock->refresh(100)],
        'isAcquired' => ['throws', 0.6, fn () => $lock->isAcquired()],
        'release' => ['throws', 0.6, fn () => $lock->release()],
    ] as $name => [$expected, $least, $call]) {
        $case = $held ? "$name, held" : $name;
        check($lock->acquire(true, PATIENCE), "$case: acquired before");
        if (!$held) {
            $lock->release();
            if ($name === 'refresh') {
                continue; // a conflict, of which the server needs not be asked
            }
        }
        $server->freeze();
        ends($expected, $least, $call, $case);
        $server->thaw();
        check_usable($server, $lock, $case);
    }
}
unset($lock);

/* A destructor does not wait for an answer. */
$lock = redis_lock($server);
$lock->acquire();
$server->freeze();
unset($lock);
$server->thaw();
wait_until(fn () => holders($server) === 'nobody', 'the lock is released');

/* Nobody takes the connection: the queue of those who want one is full. */
$context = stream_context_create(['socket' => ['backlog' => 0]]);
$listener = stream_socket_server('tcp://127.0.0.1:0', $n, $m, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
$address = stream_socket_get_name($listener, false);
do {
    $queued[] = $last = @stream_socket_client("tcp://$address", $n, $m, 0.2);
} while ($last !== false && count($queued) < 10);
check($last === false, 'the queue is full');
foreach ([
    'connect' => ['throws', 0.6, fn ($lock) => $lock->acquire()],
    'connect and wait' => ['throws', 0.6, fn ($lock) => $lock->acquire(true)],
    'connect and wait less' => ['throws', 0.05, fn ($lock) => $lock->acquire(true, 0.05)],
] as $case => [$expected, $least, $call]) {
    // Each has a connection of its own: who comes after one that waited in vain is told at once (away.phpt).
    $store = new RedisStore("redis://$address?timeout=0.6&persistent_id=" . urlencode($case));
    $lock = new Lock(new Key('r'), $store);
    ends($expected, $least, fn () => $call($lock), $case);
    check(!$lock->isHeld(), "$case: not held");
}
echo "done\n";
--EXPECT--
done
