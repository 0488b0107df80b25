--TEST--
Latch\Throttle: begins are spaced evenly, a wait is one sleep, and a wait that is too long uses up no slot
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    /* At 50 per second, one after the other. */
    $throttle = $factory->createThrottle('api', 50, 1.0);
    check_same(0.0, $throttle->getRetryAfter(), "$name: there is a slot");
    $begun = hrtime(true);
    $server->command('CONFIG', 'RESETSTAT');
    for ($at = 0; $at < 6; $at++) {
        check_same(true, $throttle->acquire(true), "$name: waits");
    }
    $elapsed = (hrtime(true) - $begun) / 1e9;
    check($elapsed >= 0.1, "$name: six of them take five steps, not $elapsed s");
    if ($name === 'Redis') {
        check_same([6, 0], [$server->count('evalsha'), $server->count('eval')], 'one request for each');
    }

    /* An hour apart: nothing waits. */
    $throttle = $factory->createThrottle('rare', 1, 3600);
    check_same([true, false], [$throttle->acquire(), $throttle->acquire()], "$name: one slot, and no other");
    check_same(false, $throttle->acquire(true, 0), "$name: no time");
    $begun = hrtime(true);
    check_same(false, $throttle->acquire(true, 3000), "$name: a wait that would be too long");
    check((hrtime(true) - $begun) / 1e9 < 100, "$name: ends at once");
    $after = $throttle->getRetryAfter();
    check($after > 3400 && $after <= 3600, "$name: none of these has used up a slot: $after");

    $burst = $factory->createThrottle('burst', 10, 36000.0, 3);
    $taken = array_map(fn () => $burst->acquire(), range(1, 5));
    check_same([true, true, true, false, false], $taken, "$name: three at once");
    $after = $burst->getRetryAfter();
    check($after > 3400 && $after <= 3600, "$name: the next one a step later: $after");
}

/* Two processes share the slots. */
$redis = sync_factories($server);
check_same(false, $redis['Redis']->createThrottle('rare', 1, 3600)->acquire(), 'others do not get one either');

/* Signal handlers run while it waits; one that throws ends the wait. */
pcntl_async_signals(true);
foreach (sync_factories($server) as $name => $factory) {
    $throttle = $factory->createThrottle('signals', 1, 3600.0);
    $throttle->acquire();
    $seen = 0;
    pcntl_signal(SIGALRM, function () use (&$seen) {
        $seen++;
        throw new LogicException('enough');
    });
    pcntl_alarm(1);
    check_same('LogicException: enough', outcome(fn () => $throttle->acquire(true)), "$name: a handler that throws");
    check_same(1, $seen, "$name: ran once");
    check($throttle->getRetryAfter() > 7000 - 100, "$name: the slot of the wait is used up");
    $server->command('DEL', 'latch:throttle:signals');
}
echo "done\n";
?>
--EXPECT--
done
