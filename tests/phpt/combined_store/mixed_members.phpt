--TEST--
Two of three members are a majority, whatever kinds of stores they are, and whichever is taken
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/postgresql.inc';

use Latch\{Key, Lock, PersistingStoreInterface};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore, PostgreSqlStore, RedisStore};
use Latch\Strategy\{ConsensusStrategy, StrategyInterface, UnanimousStrategy};
use Latch\Tests\{PostgreSqlServer, RedisServer};

/* A place of its own for each member: the servers are as new as they are where somebody tries Latch out. */
$redis = [new RedisServer(), new RedisServer(), new RedisServer()];
$postgresql = [new PostgreSqlServer(), new PostgreSqlServer(), new PostgreSqlServer()];
$directories = [temporary_directory(), temporary_directory(), temporary_directory()];
$memory = [new InMemoryStore(), new InMemoryStore(), new InMemoryStore()];
$kinds = [
    'memory' => fn (int $place) => $memory[$place],
    'flock' => fn (int $place) => new FlockStore($directories[$place]),
    'PHP' => fn (int $place) => new RecordingStore($directories[$place]),
    'Redis object' => fn (int $place) => new RedisStore(phpredis($redis[$place])),
    'Redis DSN' => fn (int $place) => new RedisStore($redis[$place]->dsn()),
    'PostgreSQL DSN' => fn (int $place) => new PostgreSqlStore($postgresql[$place]->dsn()),
];
/** @var array<string, list<PersistingStoreInterface>> */
$stores = array_map(fn (callable $make) => array_map($make, [0, 1, 2]), $kinds);

/** What acquiring in the three says, and which of them have the lock then. */
function acquire_in(array $members, StrategyInterface $strategy): array
{
    $key = new Key('r');
    $lock = new Lock($key, new CombinedStore($members, $strategy), 300.0);
    $acquired = $lock->acquire();
    $promised = $lock->isHeld() && $lock->isAcquired();
    $lock->release();
    return [$acquired, $promised];
}

$cases = 0;
foreach ($kinds as $first => $_) {
    foreach ($kinds as $second => $_) {
        foreach ($kinds as $third => $_) {
            $members = [$stores[$first][0], $stores[$second][1], $stores[$third][2]];
            foreach ([null, 0, 1, 2] as $taken) {
                if ($taken !== null) {
                    $other = new Lock(new Key('r'), $members[$taken], 300.0);
                    check($other->acquire(), "$first, $second, $third: number $taken is free");
                }
                foreach ([[new ConsensusStrategy(), true], [new UnanimousStrategy(), $taken === null]] as [$strategy, $expected]) {
                    $cases++;
                    $case = "$first, $second, $third, " . ($taken ?? 'none') . ' taken, ' . $strategy::class;
                    check_same([$expected, $expected], acquire_in($members, $strategy), $case);
                }
                if ($taken !== null) {
                    check($other->isAcquired(), "$first, $second, $third: number $taken stays its holder's");
                    $other->release();
                }
            }
        }
    }
}
echo "$cases cases\n";
--EXPECT--
1728 cases
