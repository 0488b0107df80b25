--TEST--
RedisStore: in a cluster locks are on the server that has their slot, and do what they do on a single one
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip the C code is tested in tests/unit, and PHP starts many times here');
}
require __DIR__ . '/../../utils/redis.inc';
Latch\Tests\RedisServer::skipBefore('7.0');
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_keep_alive.inc';
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/redis_cluster.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisClusterServers;

const PATIENT = '&timeout=30&read_timeout=30';

$cluster = new RedisClusterServers(3, false, ['requirepass' => 'SECRET']);
$lock = fn (string $name, ?float $ttl = 300.0, string $rest = '', bool $autoRelease = true): Lock
    => new Lock(new Key($name), new RedisStore($cluster->dsn(PATIENT . $rest)), $ttl, $autoRelease);
$others = fn (string $name): Lock => $lock($name, rest: '&persistent_id=other');
$nothing_is_left = fn (string $case) => check_same(
    [],
    preg_grep('/latch:(\{[@-O]{4}\}:)?fencing$/', $cluster->keys(), PREG_GREP_INVERT),
    "$case: nothing is left"
);
/* One name for each master. */
$names = [];
for ($number = 0; count($names) < 3; $number++) {
    $names[$cluster->masterOf("order-$number")->port] ??= "order-$number";
}
$names = array_values($names);

/* Names and prefixes of all kinds. */
foreach (['', 'app:', '{app}:', 'a}b'] as $prefix) {
    foreach ([...$names, 'foo}bar', 'foo{}bar', '{user}:1', 'a{b', "a\0b"] as $resource) {
        $case = "\"$prefix\" and \"$resource\"";
        $rest = '&prefix=' . rawurlencode($prefix);
        // On one connection: a destructor's release is not awaited, and may be overtaken on another.
        $make = fn (string $name) => $lock($name, rest: $rest);
        prove_lock($make, $make, $case, $resource);
        $held = $lock($resource, rest: $rest);
        check($held->acquire(), "$case: acquired");
        check(!$lock($resource, rest: "$rest&persistent_id=other")->acquire(), "$case: who has another connection is excluded");
        check_same(1, $cluster->masterOf($prefix . $resource)->command('EXISTS', $prefix . $resource), "$case: is on its master");
        $held->release();
        $nothing_is_left($case);
        $cluster->flush();
    }
}

/* Others wait, on each of the servers, and are handed the lock. */
foreach ($names as $name) {
    $held = $lock($name);
    check($held->acquire(), "$name: acquired");
    $child = fork(function (ParentLine $parent) use ($lock, $name) {
        $wanted = $lock($name);
        $parent->say('waiting');
        $parent->say($wanted->acquire(true, PATIENCE) ? 'granted ' . $wanted->getFencingToken() : 'refused');
        unset($wanted); // what a destructor releases the next command of the same process does not overtake
        $parent->say($lock($name)->acquire() ? 'again' : 'refused');
    });
    $child->hear_exactly('waiting');
    wait_until(fn () => preg_grep('/:queue:/', $cluster->keys()) !== [], "$name: it is queued");
    check_same(1, count(preg_grep("/^latch:\\{[@-O]{4}\\}:queue:$name$/", $cluster->keys())), "$name: the queue is in its slot");
    $token = $held->getFencingToken();
    $held->release();
    preg_match('/^granted (\d+)$/', (string) $child->hear(), $match);
    check(($match[1] ?? 0) > $token, "$name: the next has it, with a greater number");
    $child->hear_exactly('again');
    check_same('exit 0', $child->ending(), "$name: the ending of who has waited");
    check($others($name)->acquire(), "$name: the end of a script releases it");
}
check(array_sum(array_map(fn ($master) => $master->count('spublish'), $cluster->masters)) > 0, 'they were told by messages');
$nothing_is_left('handed over');

/* The end of a script releases what it has, wherever that is. */
$child = fork(function (ParentLine $parent) use ($lock, $names) {
    $GLOBALS['held'] = array_map($lock, $names);
    foreach ($GLOBALS['held'] as $each) {
        $each->acquire();
    }
    $parent->say('held');
    $parent->hear();
});
$child->hear_exactly('held');
check_same([false, false, false], array_map(fn ($name) => $others($name)->acquire(), $names), 'all are held');
$child->say('end');
check_same('exit 0', $child->ending(), 'the ending of a script');
$nothing_is_left('the end of a script');

/* A key is handed over to another process. */
foreach ($names as $name) {
    $key = new Key($name);
    $mine = new Lock($key, new RedisStore($cluster->dsn(PATIENT)), 300.0, false);
    check($mine->acquire(), "$name: acquired");
    $text = serialize($key);
    $child = fork(function (ParentLine $parent) use ($cluster, $text, $lock, $name) {
        $taken = new Lock(unserialize($text), new RedisStore($cluster->dsn(PATIENT . '&persistent_id=heir')), 300.0);
        $parent->say(json_encode([$lock($name)->acquire(), $taken->isAcquired()]));
        $taken->refresh();
        $taken->release();
    });
    $child->hear_exactly('[false,true]');
    check_same('exit 0', $child->ending(), "$name: the ending of the heir");
    check(!$mine->isAcquired(), "$name: it is released");
}
$nothing_is_left('handed over keys');

/* Kept alive, in several slots, also while a slot moves to another server. */
$losses = new Losses();
$kept = [];
foreach ($names as $name) {
    $kept[$name] = $lock($name, TTL)->keepAlive()->onLost($losses->note($name));
    check($kept[$name]->acquire(), "$name: acquired");
}
foreach ($names as $name) {
    wait_until_renewed($cluster->masterOf($name), $name);
}
[$from, $to] = [$cluster->masterOf($names[0]), $cluster->masterOf($names[1])];
$cluster->move($cluster->slotOf($names[0]), $to);
check_same($to, $cluster->masterOf($names[0]), 'the slot has moved');
foreach ($names as $name) {
    wait_until_renewed($cluster->masterOf($name), $name);
    check($kept[$name]->isHeld() && $kept[$name]->isAcquired(), "$name: held");
    check(!$others($name)->acquire(), "$name: nobody else has it");
}
check_same([], $losses->told, 'none is lost');
$cluster->masterOf($names[2])->command('DEL', $names[2]);
$losses->await($names[2]);
unset($kept[$names[2]]);
foreach ($kept as $each) {
    $each->release();
}
$kept = [];

/* The command line, over all servers. */
$store = '--store=' . $cluster->dsn();
$programs = array_map(fn ($name) => latch_run_cat($store, $name), $names);
check_names_holder($programs[0]->pid, $names[0], latch_to_end('run', $store, $names[0], '--', 'echo', 'no'), 'latch run excludes');
$listed = json_decode(substr(latch_to_end('list', '--format=json', $store), strlen('exit 0: '), -1), true);
$found = array_column($listed, null, 'name');
ksort($found);
$expected = array_combine($names, array_map(fn ($program) => $program->pid, $programs));
ksort($expected);
check_same($expected, array_map(fn ($each) => $each['holders'][0]['pid'], $found), 'all are listed');
foreach ($names as $at => $name) {
    $said = latch_to_end('status', '--format=json', $store, $name);
    check_same($programs[$at]->pid, json_decode(substr($said, strlen('exit 75: '), -1), true)['holders'][0]['pid'] ?? null, "$name: its status");
}
$waiting = latch('run', $store, '--wait', $names[0], '--', 'echo', 'next');
wait_until(fn () => preg_grep('/:queue:/', $cluster->keys()) !== [], 'somebody waits');
$said = latch_to_end('release', '--force', '--yes', $store, $names[0]);
check(str_starts_with($said, 'exit 0: ') && !str_contains($said, 'SECRET'), "latch release: $said");
check_same("exit 0: next\n|", $waiting->all(), 'the next has it');
foreach ($programs as $program) {
    $program->let_go()->ending();
}
check_same("exit 0: []\n|", latch_to_end('list', '--format=json', $store), 'nothing is held');

/* A server that is away: its locks cannot be had, the others can; no password is said. */
$cluster->masterOf($names[2])->stop();
$short = fn (string $name) => new Lock(new Key($name), new RedisStore($cluster->dsn('&timeout=0.5')), 300.0);
try {
    $short($names[2])->acquire();
    echo "BROKEN: acquired\n";
} catch (Latch\Exception\LockAcquiringException $e) {
    check(!str_contains(messages($e) . print_r($e, true), 'SECRET'), 'no password in: ' . messages($e));
}
$held = $short($names[1]);
check($held->acquire() && !$others($names[1])->acquire(), 'what the other servers have is to be had');
echo "done\n";
?>
--EXPECT--
done
