--TEST--
Members, strategies and loggers may use the lock, its key and its stores, or drop everything
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore};
use Latch\Strategy\StrategyInterface;

class Everything
{
    public static array $objects = [];
}

class MeddlingStrategy implements StrategyInterface
{
    public ?Closure $before = null;

    public function isMet(int $numberOfSuccess, int $numberOfItems): bool
    {
        $this->before !== null && ($this->before)('isMet');
        return $numberOfSuccess > $numberOfItems / 2;
    }

    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool
    {
        $this->before !== null && ($this->before)('canBeMet');
        return true;
    }
}

class RefusingStore extends RecordingStore
{
    public function save(Key $key): void
    {
        throw new RuntimeException('always');
    }
}

function make(string $directory, ?Closure $meddle): array
{
    $member = new RecordingStore($directory);
    $strategy = new MeddlingStrategy();
    $logger = new Logger();
    $native = new FlockStore($directory);
    $store = new CombinedStore([$native, $member, new RefusingStore($directory), new InMemoryStore()], $strategy);
    $store->setLogger($logger);
    $key = new Key('a');
    $lock = new Lock($key, $store, 60);
    $depth = 0;
    $before = function (string $at) use ($meddle, &$depth) {
        if ($meddle !== null && $depth++ < 4) {
            $meddle($at);
        }
    };
    $member->before = $before;
    $strategy->before = $before;
    $logger->on_line = fn () => $before('log');
    return ['lock' => $lock, 'key' => $key, 'store' => $store, 'member' => $member, 'native' => $native,
        'strategy' => $strategy, 'logger' => $logger];
}

/** Of what there is left. */
function object(string $name): ?object
{
    return Everything::$objects[$name] ?? null;
}

function drop_everything(): void
{
    Everything::$objects = [];
    gc_collect_cycles();
}

$directory = temporary_directory();
$places = ['save', 'exists', 'delete', 'putOffExpiration', 'isMet', 'canBeMet', 'log'];
$meddlings = [
    'acquires' => fn () => object('lock')?->acquire(),
    'releases' => fn () => object('lock')?->release(),
    'renews' => fn () => object('lock')?->refresh(),
    'asks' => fn () => object('lock')?->isAcquired(),
    'saves' => fn () => object('store')?->save(object('key')),
    'saves another' => fn () => object('store')?->save(new Key('another')),
    'deletes' => fn () => object('store')?->delete(object('key')),
    'deletes natively' => fn () => object('native')?->delete(object('key')),
    'changes the state' => fn () => object('key')?->setState('own', 'mine'),
    'unserialises the key' => fn () => object('key')?->__unserialize(['resource' => 'b']),
    'combines anew' => fn () => (new CombinedStore([object('native'), object('member')],
        object('strategy')))->save(object('key')),
    'drops the lock' => function () {
        unset(Everything::$objects['lock']);
        gc_collect_cycles();
    },
    'drops everything' => drop_everything(...),
    'forks' => function () {
        if (pcntl_fork() === 0) {
            posix_kill(getmypid(), SIGKILL);
        }
        pcntl_wait($status);
    },
];
foreach ($places as $place) {
    foreach ($meddlings as $name => $meddle) {
        foreach (['lock', 'store'] as $way) {
            Everything::$objects = make($directory, fn (string $at) => $at === $place ? $meddle() : null);
            if ($way === 'lock') {
                foreach (['acquire', 'refresh', 'isAcquired', 'acquireRead', 'release'] as $method) {
                    outcome(fn () => object('lock')?->$method());
                }
            } else {
                foreach (['save', 'exists', 'saveRead', 'delete'] as $method) {
                    outcome(fn () => object('store')?->$method(object('key')));
                }
                outcome(fn () => object('store')?->putOffExpiration(object('key'), 60));
            }
            drop_everything();
            $locked = glob("$directory/????????????????????????????????????????");
            check(is_free($directory, 'a'), "$place $name, by the $way: free in the end");
            array_map('unlink', $locked);
        }
    }
}
Everything::$objects = make($directory, null);
check(object('lock')->acquire(), 'it works still');
drop_everything();
echo "done\n";
--EXPECT--
done
