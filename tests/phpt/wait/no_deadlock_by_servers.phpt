--TEST--
A wait for others is no deadlock, though this thread has a lock of that name: elsewhere, lost, handed over, shared out
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, InMemoryStore, RedisStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn());

/** Whether somebody waits, and goes on to: it has had the time to look whether it waits for itself. */
function waits_on(RedisServer $server): bool
{
    static $looks = 0;
    $looks = $server->command('ZCARD', 'latch:queue:r') > 0 ? $looks + 1 : 0;
    return $looks > 20;
}

/** Another process that has "r" and gives it back when somebody waits for it. */
function generous_holder(RedisServer $server): Child
{
    $child = fork(function (ParentLine $parent) use ($server) {
        $lock = redis_lock($server, '?persistent_id=child');
        $lock->acquire(true);
        $parent->say('held');
        wait_until(fn () => waits_on($server), 'somebody waits');
        $lock->release();
        return 0;
    });
    $child->hear_exactly('held');
    return $child;
}

function gets_it(RedisServer $server, string $case, ?RedisStore $store = null): void
{
    $lock = new Lock(new Key('r'), $store ?? new RedisStore($server->dsn()));
    check_same('true', outcome(fn () => $lock->acquire(true)), $case);
    $lock->release();
    check_same('nobody', holders($server), "$case: in the end");
}

/* Locks of that name in other places, by the same kind of store. */
$other = new RedisServer();
$elsewhere = [
    'another server' => new RedisStore($other->dsn()),
    'another database' => new RedisStore($server->dsn('/3')),
    'memory' => new InMemoryStore(),
];
foreach ($elsewhere as $case => $their_store) {
    $held = new Lock(new Key('r'), $their_store);
    check($held->acquire(), "$case: held");
    $child = generous_holder($server);
    gets_it($server, $case);
    check($held->isAcquired(), "$case: it stays");
    $child->ending();
    unset($held);
}

/* A hold that is none any more, without this process knowing. */
$lost = new Lock(new Key('r'), $store, 300.0);
check($lost->acquire(), 'to be lost');
$server->command('DEL', 'r');
$child = generous_holder($server);
check($lost->isHeld(), 'as far as is known');
gets_it($server, 'lost');
$child->ending();
unset($lost);

/* It has ended by itself. */
$brief = new Lock(new Key('r'), $store, 0.1);
check($brief->acquire(), 'brief');
wait_until(fn () => !$brief->isHeld(), 'it has expired');
$child = generous_holder($server);
gets_it($server, 'expired');
$child->ending();

/* The key was handed over: another process may release it. */
$ours = new Lock($key = new Key('r'), $store, 300.0, autoRelease: false);
check($ours->acquire(), 'to be handed over');
$text = serialize($key);
$child = fork(function () use ($server, $text) {
    wait_until(fn () => waits_on($server), 'somebody waits');
    (new Lock(unserialize($text), new RedisStore($server->dsn('?persistent_id=child'))))->release();
    return 0;
});
gets_it($server, 'handed over');
$child->ending();

/* The other way round: who made it still knows it. */
$child = fork(function (ParentLine $parent) use ($server) {
    $lock = new Lock($key = new Key('r'), new RedisStore($server->dsn('?persistent_id=child')), 300.0, false);
    $lock->acquire();
    $parent->say(base64_encode(serialize($key)));
    wait_until(fn () => waits_on($server), 'somebody waits');
    $lock->release();
    return 0;
});
$theirs = new Lock(unserialize(base64_decode($child->hear())), $store, 300.0, false);
check($theirs->acquire(), 'adopted');
gets_it($server, 'adopted');
$child->ending();

/* A child may release what it has inherited; and what a parent holds is not the child's. */
$ours = new Lock(new Key('r'), $store, 300.0, autoRelease: false);
check($ours->acquire(), 'to be inherited');
$child = fork(function () use ($server, $ours) {
    wait_until(fn () => waits_on($server), 'somebody waits');
    $ours->release();
    return 0;
});
gets_it($server, 'inherited');
$child->ending();
$parents = new Lock(new Key('r'), $store, 300.0);
check($parents->acquire(), 'held by a parent');
$child = fork(function (ParentLine $parent) use ($server) {
    $lock = new Lock(new Key('r'), new RedisStore($server->dsn()));
    $parent->say(outcome(fn () => $lock->acquire(true)));
    return 0;
});
wait_until(fn () => waits_on($server), 'the child waits');
$parents->release();
$child->hear_exactly('true');
$child->ending();

/* One member of three is this thread's, another one somebody else's, who gives it back: that is enough. */
$servers = [$server, $other, new RedisServer()];
$members = array_map(fn (RedisServer $server) => new RedisStore($server->dsn()), $servers);
$own = new Lock(new Key('r'), $members[1], 300.0);
check($own->acquire(), 'a member');
$child = fork(function (ParentLine $parent) use ($server) {
    $lock = redis_lock($server, '?persistent_id=child');
    $lock->acquire();
    $asked = $server->count('type');
    $parent->say('held');
    wait_until(fn () => $server->count('type') > $asked + 1, 'somebody polls');
    $lock->release();
    return 0;
});
$child->hear_exactly('held');
$quorum = new Lock(new Key('r'), new CombinedStore($members, new ConsensusStrategy()), 300.0);
check_same('true', outcome(fn () => $quorum->acquire(true)), 'a quorum');
$child->ending();
$quorum->release();
check(str_contains(
    outcome(fn () => (new Lock(new Key('r'), new CombinedStore($members, new UnanimousStrategy()), 300.0))->acquire(true)),
    'this very thread'
), 'but not if all are needed');
echo "done\n";
--EXPECT--
done
