--TEST--
RedisStore: the rights that docs/redis.md names are enough, and scripts use no others
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip the C code is tested in tests/unit, and it waits for a cluster here');
}
require __DIR__ . '/../../utils/redis.inc';
Latch\Tests\RedisServer::skipBefore('7.0');
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/redis_cluster.inc';

use Latch\{Key, Lock, Semaphore};
use Latch\Store\{CombinedStore, RedisStore, RedisStringStore};
use Latch\Strategy\ConsensusStrategy;
use Latch\Tests\{RedisClusterServers, RedisServer};

$text = file_get_contents(__DIR__ . '/../../../docs/redis.md');
preg_match('/^### Rights\n(.*?)^#/ms', $text, $match);
[, $section] = $match;
preg_match("/```sh\nredis-cli ACL SETUSER shop on '>PASSWORD' '~\*' '&latch:\*' (.*?)```/s", $section, $match);
$needed = preg_split('/[\s\\\\]+/', trim($match[1], " \\\n"));
/* What a row of the table adds, by what its first cell begins with. */
$also = function (string $for) use ($section): array {
    check(preg_match('/^\| *' . preg_quote($for, '/') . '[^|]*\|(.*)\|$/m', $section, $match) === 1, "a row for $for");
    preg_match_all('/\+[a-z]+(\\\\\|[a-z]+)?/', $match[1], $rights);
    check($rights[0] !== [], "rights for $for");
    return str_replace('\\', '', $rights[0]);
};

/* A user of those servers with these rights and a prefix. */
$allow = function (array $servers, array $rights): void {
    foreach ($servers as $server) {
        $server->setUser('shop', 'reset', 'on', '>SECRET', '~shop:*', '&shop:latch:*', ...$rights);
        $server->command('ACL', 'LOG', 'RESET');
        $server->command('SCRIPT', 'FLUSH');
    }
};
/* Nothing was refused. */
$prove = function (array $servers, string $case): void {
    foreach ($servers as $server) {
        $log = array_map(fn (array $entry): string => "$entry[5] $entry[7]", $server->command('ACL', 'LOG'));
        check_same([], $log, "$case: what was refused");
    }
};
/* All that can be done with a lock, but waiting. */
$use = function (RedisStore|CombinedStore $store, string $case): void {
    $lock = new Lock(new Key('r'), $store, 300.0);
    $other = new Lock(new Key('r'), $store, 300.0);
    foreach (['acquireRead', 'acquire', 'acquireRead', 'acquire'] as $method) {
        check($lock->$method(), "$case: $method()");
    }
    check(!$other->acquire() && !$other->acquireRead(), "$case: it excludes");
    $lock->refresh(100.0);
    check($lock->isAcquired(), "$case: acquired");
    $lock->release();
    check($other->acquireRead() && $lock->acquireRead() && !$lock->acquire(), "$case: readers");
    unset($lock);
    $other->release();
};
/* Another process waits for a lock that this one has, and is handed it; and back. */
$wait = function (string $dsn, callable $keys, string $case): void {
    $lock = new Lock(new Key('r'), new RedisStore($dsn), 300.0);
    foreach (['acquire', 'acquireRead'] as $method) {
        check($lock->acquire(), "$case: acquire()");
        $child = fork(function (ParentLine $parent) use ($dsn, $method) {
            $lock = new Lock(new Key('r'), new RedisStore($dsn), 300.0);
            $parent->say('waits');
            $parent->say($lock->$method(true, PATIENCE) ? 'granted' : 'refused');
            $parent->hear();
            $lock->release();
            return 0;
        });
        $child->hear_exactly('waits');
        wait_until(fn () => preg_grep('/^shop:latch:.*queue:r$/', $keys()) !== [], "$case: it is queued");
        check($lock->acquireRead(), "$case: acquireRead()");
        $lock->release();
        $child->hear_exactly('granted');
        $child->say('give it back');
        check($lock->acquire(true, PATIENCE), "$case: it comes back");
        $lock->release();
        $child->ending();
    }
};

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
[$server] = $servers;
$dsn = fn (RedisServer $server, string $rest = '', string $path = ''): string
    => $server->dsn("$path?prefix=shop:$rest", 'shop:SECRET@');

$allow([$server], $needed);
$use(new RedisStore($dsn($server)), 'alone');
$prove([$server], 'alone');

$allow([$server], [...$needed, ...$also('locks [that are strings]')]);
$strings = new RedisStringStore($dsn($server));
$string = new Lock(new Key('r'), $strings);
check($string->acquire() && !(new Lock(new Key('r'), $strings))->acquire(), 'strings: it excludes');
$string->refresh(100.0);
$string->refresh(0.0);
check($string->isAcquired() && $string->releaseIfHeld(), 'strings: held until then');
$prove([$server], 'strings');

$allow([$server], [...$needed, ...$also('a database other than 0')]);
$use(new RedisStore($dsn($server, '', '/3')), 'a database');
$prove([$server], 'a database');

$allow([$server], [...$needed, ...$also('waiting without polling')]);
$keys = fn (): array => $server->command('KEYS', '*');
$wait($dsn($server, '&peers=no'), $keys, 'waiting');
check($server->count('publish') > 0, 'waiting: it was told');
$prove([$server], 'waiting');

$allow([$server], [...$needed, ...$also('waiting without polling'), ...$also("waiting beside Symfony's")]);
$wait($dsn($server), $keys, 'beside peers');
$prove([$server], 'beside peers');

foreach (['`latch status`' => false, '`latch list`' => true] as $for => $lists) {
    $allow([$server], [...$needed, ...$also($for)]);
    $store = new RedisStore($dsn($server));
    $lock = new Lock(new Key('r'), $store, 300.0);
    foreach (['acquireRead', 'acquire'] as $method) {
        $lock->$method();
        check_same(1, $store->inspect(new Key('r'))['holderCount'], "$for: a holder is found");
        if ($lists) {
            check_same(['r'], array_column($store->listHeld(), 'name'), "$for: it is listed");
        }
    }
    if ($lists) {
        $semaphores = new Semaphore\Store\RedisStore($dsn($server));
        $permit = new Semaphore\Semaphore(new Semaphore\Key('s', 2), $semaphores);
        check($permit->acquire(), "$for: a permit");
        check_same(['s'], array_column($semaphores->listHeld(), 'name'), "$for: its semaphore is listed");
        check_same(['s'], array_column($semaphores->listHeld(true), 'name'), "$for: its semaphore is listed with those of peers");
        $permit->release();
    }
    $ids = array_column($store->inspect(new Key('r'))['holders'], 'id');
    check_same(1, $store->forceRelease(new Key('r'), $ids), "$for: it is taken away");
    $prove([$server], $for);
}

$allow($servers, [...$needed, ...$also('a member of a')]);
$use(new CombinedStore(
    array_map(fn (RedisServer $server): RedisStore => new RedisStore($dsn($server)), $servers),
    new ConsensusStrategy(),
), 'a quorum');
$prove($servers, 'a quorum');

$cluster = new RedisClusterServers();
$allow($cluster->masters, [...$needed, ...$also('a [cluster]'), ...$also('the same in a [cluster]'), '+script|exists']);
$wait($cluster->dsn('&prefix=shop:', 'shop:SECRET@'), $cluster->keys(...), 'a cluster');
$prove($cluster->masters, 'a cluster');

/* What the scripts call is what is named; what clients call beside is not theirs. */
preg_match_all('/\+([a-z]+)/', $section, $match);
$named = array_diff(array_unique($match[1]), ['eval', 'evalsha', 'subscribe', 'ssubscribe', 'script', 'asking', 'cluster',
    'role', 'info', 'scan', 'select']);
preg_match_all("/'([A-Z]+)'/", implode('', array_map(file_get_contents(...), glob(__DIR__ . '/../../../src/store/redis/script/lua/{,*/}*.lua', GLOB_BRACE))), $match);
$called = array_intersect(array_map(strtolower(...), array_unique($match[1])), $server->command('COMMAND', 'LIST'));
sort($named);
sort($called);
check_same($called, $named, 'what scripts call');
echo "done\n";
?>
--EXPECT--
done
