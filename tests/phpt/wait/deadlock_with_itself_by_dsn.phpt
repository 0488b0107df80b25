--TEST--
A wait for what this very thread holds is an exception in Redis and in quorums, too
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_deadlock.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, RedisStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};
use Latch\Tests\RedisServer;

$servers = [new RedisServer(), new RedisServer(), new RedisServer()];
$directory = temporary_directory();
$members = fn () => array_map(fn (RedisServer $server) => new RedisStore($server->dsn()), $servers);
$dsn = $servers[0]->dsn();
$strange = new CombinedStore($members(), new class () extends ConsensusStrategy {
});
$mixed = new CombinedStore([$members()[0], new RecordingStore($directory), new InMemoryStore()], new UnanimousStrategy());

/* By which store it is held, and by which it is waited for. */
$ways = [
    'one DSN' => [new RedisStore($dsn), new RedisStore($dsn)],
    'two connections' => [new RedisStore($dsn), new RedisStore($servers[0]->dsn('?persistent_id=other'))],
    'quorum' => [
        new CombinedStore($members(), new ConsensusStrategy()),
        new CombinedStore($members(), new ConsensusStrategy()),
    ],
    'quorum, a strategy in PHP' => [$strange, $strange],
    'a member of a quorum' => [$members()[1], new CombinedStore($members(), new UnanimousStrategy())],
    'a quorum, a member' => [new CombinedStore($members(), new UnanimousStrategy()), $members()[2]],
    'a quorum within another' => [
        new FlockStore($directory),
        new CombinedStore(
            [new CombinedStore([new InMemoryStore(), new FlockStore($directory)], new UnanimousStrategy())],
            new ConsensusStrategy()
        ),
    ],
    'a quorum with members in PHP' => [$mixed, $mixed],
];
foreach ($ways as $way => [$store, $same]) {
    prove_refusals($store, $same, $way, !str_starts_with($way, 'a '));
}

/* A lock that is kept alive would never have ended. */
foreach ([$members()[0], new CombinedStore($members(), new ConsensusStrategy())] as $store) {
    $first = (new Lock(new Key('resource'), $store, 1.0))->keepAlive();
    check($first->acquire(), 'acquired, and kept');
    refused(fn () => (new Lock(new Key('resource'), $store, 1.0))->acquire(true), 'kept alive');
    check($first->isHeld(), 'it is kept on');
    $first->release();
}


unset($first, $ways, $store, $same, $mixed, $strange);
gc_collect_cycles();
foreach ($servers as $server) {
    check_same([], array_values(array_diff($server->command('KEYS', '*'), ['latch:fencing'])), 'nothing is left');
}
echo "done\n";
--EXPECT--
done
