--TEST--
In Redis members are tried and released side by side: a round trip for up to 64 of them, and all or none whatever the network does
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_multi_lock.inc';

use Latch\LockFactory;
use Latch\Store\RedisStore;
use Latch\Tests\{RedisProxy, RedisServer};

const DELAY = 20000; // microseconds, each way
const COUNT = 100;

$server = new RedisServer();
$listener = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($listener, false);

/* A network on which everything takes its time. */
$relay = fork(function () use ($listener, $server) {
    $pairs = [];
    while (true) {
        $read = [$listener, ...array_merge(...array_values($pairs) ?: [[]])];
        $none = null;
        stream_select($read, $none, $none, null);
        usleep(DELAY);
        foreach ($read as $ready) {
            if ($ready === $listener) {
                $pairs[] = [stream_socket_accept($listener), stream_socket_client("tcp://127.0.0.1:$server->port")];
                continue;
            }
            foreach ($pairs as $number => [$client, $far]) {
                if ($ready !== $client && $ready !== $far) {
                    continue;
                }
                $text = fread($ready, 1 << 20);
                if ($text === '' || $text === false) {
                    unset($pairs[$number]);
                } else {
                    fwrite($ready === $client ? $far : $client, $text);
                }
            }
        }
    }
});
$names = array_map(fn (int $number) => "r$number", range(1, COUNT));
$slow = new RedisStore("redis://$address");
$multi = multi_lock($slow, $names);
check(multi_lock($slow, ['a', 'b'])->acquire(), 'the connection is there');
$timed = function (callable $call): float {
    $begun = hrtime(true);
    $call();
    return (hrtime(true) - $begun) / 1e9;
};
$one_by_one = COUNT * 2 * DELAY / 1e6;
foreach ([[], [true]] as $arguments) {
    $took = $timed(fn () => check($multi->acquire(...$arguments), 'acquired'));
    check($took < $one_by_one / 2, "acquired in $took s");
    check(!(new LockFactory(new RedisStore($server->dsn())))->createLock('r' . COUNT)->acquire(), 'held');
    $took = $timed($multi->release(...));
    check($took < $one_by_one / 2, "released in $took s");
    check_same([], $server->command('KEYS', 'r*'), 'all of them');
}
$relay->kill();

/* Trouble on the way: it is all or nothing, and later it works again. */
$proxy = new RedisProxy($server);
$broken = new RedisStore($proxy->dsn('?read_timeout=1'));
$direct = new RedisStore($server->dsn());
foreach (['trickle', 'lose', 'drop', 'cut', 'hang', 'garbage'] as $mode) {
    foreach ([[], [true, 20.0]] as $arguments) {
        $multi = multi_lock($broken, ['a', 'b', 'c', 'd']);
        check($multi->acquire(true, PATIENCE), "$mode: before");
        $multi->release();
        $proxy->set($mode);
        $said = outcome(fn () => $multi->acquire(...$arguments));
        $proxy->set('pass');
        if ($said === 'true') {
            check($multi->isHeld() && free_ones($direct, 'a', 'b', 'c', 'd') === '', "$mode: all");
        } else {
            check(str_contains($said, 'LockAcquiringException: Failed to acquire the "'), "$mode: $said");
            check(!$multi->isHeld(), "$mode: none");
        }
        check(in_array($mode, ['hang', 'garbage'], true) || $said === 'true', "$mode: one lost connection is no failure: $said");
        wait_until(function () use ($multi) {
            try {
                $multi->release();
                return true;
            } catch (Latch\Exception\LockReleasingException) {
                return false;
            }
        }, "$mode: it can be released");
        wait_until(fn () => free_ones($direct, 'a', 'b', 'c', 'd') === 'a b c d', "$mode: nothing is left");
    }
}

/* A release of which the server hears nothing at first. */
$multi = multi_lock($broken, ['a', 'b', 'c', 'd']);
check($multi->acquire(true, PATIENCE), 'acquired');
$proxy->set('hang');
$said = outcome($multi->release(...));
check(str_contains($said, 'LockReleasingException: Failed to release the "a" lock'), $said);
$thrown = null;
try {
    unset($multi);
} catch (Latch\Exception\LockReleasingException $thrown) {
    check($thrown->getPrevious()?->getPrevious() === null, 'a server that is down is reported once');
}
check($thrown !== null, 'the end of the object, too');
unset($thrown);
$proxy->set('pass');
$next = multi_lock($broken, ['x', 'y']);
wait_until(function () use ($next) {
    try {
        return $next->acquire();
    } catch (Latch\Exception\LockAcquiringException) {
        return false;
    }
}, 'it is asked again');
wait_until(fn () => free_ones($direct, 'a', 'b', 'c', 'd') === 'a b c d', 'and gets the releases');
$next->release();

/* At the end of the script: an uncaught exception, as a Lock's, and no end of others. */
$child = fork(function (ParentLine $parent) use ($server) {
    $GLOBALS['kept'] = multi_lock(new RedisStore($server->dsn()), array_map(fn (int $number) => "n$number", range(1, 10000)));
    $parent->say($GLOBALS['kept']->acquire() ? 'held' : 'refused');
    $parent->hear();
    return 0;
});
$child->hear_exactly('held');
$server->stop();
$begun = hrtime(true);
$child->say('end');
check_same('exit 255', $child->ending(), 'ending');
check((hrtime(true) - $begun) / 1e9 < PATIENCE / 4, 'at once');
echo "done\n";
--EXPECT--
done
