--TEST--
A thousand kept locks cost one thread and one connection more, and all of them are renewed
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

const LOCKS = 1000;
const SECONDS = 6;

$server = new RedisServer();
$store = new RedisStore($server->dsn());
$plain = new Lock(new Key('plain'), $store, SECONDS);
check($plain->acquire(), 'acquired');
$connections = count($server->clients());
$threads = thread_count(getmypid());
check_same(1, $threads, 'threads before');

$locks = [];
for ($number = 0; $number < LOCKS; $number++) {
    $locks[$number] = (new Lock(new Key("r$number"), $store, SECONDS))->keepAlive();
    check($locks[$number]->acquire(), "lock $number");
}
$begun = hrtime(true);
sleep(2 * SECONDS);
foreach ($locks as $number => $lock) {
    check($lock->isHeld(), "lock $number is held");
}
check_same($threads + 1, thread_count(getmypid()), 'threads');
check_same($connections + 1, count($server->clients()), 'connections');
check_same(LOCKS, count($server->command('KEYS', 'r*')), 'locks in the server');
check(!$plain->isHeld() && $server->lacks('plain'), 'what is not kept has expired');

/* No more renewals than one for each third of the TTL, and one for what goes along early. */
$scripts = $server->count('type');
$elapsed = (hrtime(true) - $begun) / 1e9;
$most = (1 + 2 * ceil($elapsed / (SECONDS / 3))) * LOCKS + 1;
check($scripts <= $most, "$scripts scripts, not more than $most");

/* They are lost one by one, when they are. */
$told = [];
foreach ($locks as $number => $lock) {
    $lock->onLost(function () use ($number, &$told) {
        $told[$number] = ($told[$number] ?? 0) + 1;
    });
}
for ($number = 0; $number < LOCKS; $number += 2) {
    $server->command('DEL', "r$number");
}
wait_until(function () use (&$told) {
    return count($told) === LOCKS / 2;
}, 'half of them are told');
for ($number = 0; $number < LOCKS; $number++) {
    check_same($number % 2 === 0 ? 1 : null, $told[$number] ?? null, "lock $number: how often it was told");
    check_same($number % 2 !== 0, $locks[$number]->isHeld(), "lock $number: whether it is held");
}
check_same(LOCKS / 2, Lock::getStatistics()['lost'], 'lost');
$locks = [];
unset($lock);
wait_until(fn () => $server->command('KEYS', 'r*') === [], 'all are released');
echo "done\n";
--EXPECT--
done
