--TEST--
Waits are counted with their time, also those that end at a timeout or by an exception
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';
require __DIR__ . '/../../utils/phpt_statistics.inc';

use Latch\{BlockingStoreInterface, Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore};

/** How long the waits in $call lasted, as it is counted, and as long at least. */
function seconds_of(callable $call, float $least, string $what): void
{
    $before = Lock::getStatistics()['waitSeconds'];
    $begun = hrtime(true);
    $call();
    $lasted = (hrtime(true) - $begun) / 1e9;
    $counted = Lock::getStatistics()['waitSeconds'] - $before;
    check($counted >= $least && $counted <= $lasted, "$what: $counted s, of $lasted s, $least s at least");
}

pcntl_async_signals(true);
$directory = temporary_directory();
foreach (ways_to_wait($directory) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits]) {
    $lock = $make();
    check_same(['acquired' => 1], counted(fn () => $lock->acquire(true, 5)), "$way: nothing to wait for");
    $lock->release();

    $holder = $hold();
    check_same(['conflicts' => 1], counted(fn () => $lock->acquire()), "$way: a try is no wait");
    check_same(['conflicts' => 1], counted(fn () => $lock->acquire(true, 0)), "$way: nor one of 0 seconds");
    seconds_of(function () use ($lock, $way) {
        check_same(['conflicts' => 1, 'waits' => 1], counted(fn () => $lock->acquire(true, 0.3)), "$way: a timeout");
    }, 0.25, "$way: a timeout");

    /* A handler's exception ends a wait, which is no conflict. */
    $signaller = signaller($waits);
    pcntl_signal(SIGUSR1, fn () => throw new DomainException('from the handler'));
    $signaller->say((string) SIGUSR1);
    seconds_of(function () use ($lock, $way) {
        check_same(
            ['waits' => 1],
            counted_with(DomainException::class, fn () => $lock->acquire(true)),
            "$way: a wait that is given up"
        );
    }, 1e-6, "$way: a wait that is given up");
    $signaller->let_go();
    $signaller->kill();
    $signaller->ending();

    /* And at last it has the lock. */
    $pid = getmypid();
    $helper = fork(function (ParentLine $parent) use ($holder, $waits, $pid) {
        wait_until(fn () => $waits($pid), 'the other process waits');
        $holder->say('release');
        return 0;
    });
    seconds_of(function () use ($lock, $way) {
        check_same(['acquired' => 1, 'waits' => 1], counted(fn () => $lock->acquire(true, PATIENCE)), "$way: granted");
    }, 1e-6, "$way: granted");
    $lock->release();
    $helper->ending();
    $holder->ending();
}

/* By polls of the engine. */
$store = new InMemoryStore();
[$one, $two] = [new Lock(new Key('a'), $store), new Lock(new Key('a'), $store)];
$one->acquire();
seconds_of(function () use ($two) {
    check_same(['conflicts' => 1, 'waits' => 1], counted(fn () => $two->acquire(true, 0.3)), 'in memory');
}, 0.25, 'in memory');

/* What a store written in PHP does by itself is not known, unless a store of Latch's does it. */
class WaitingStore extends RecordingStore implements BlockingStoreInterface
{
    public ?FlockStore $inner = null;

    public function waitAndSave(Key $key): void
    {
        $this->inner?->waitAndSave($key);
        $this->save($key);
    }
}
$store = new WaitingStore(temporary_directory());
$lock = new Lock(new Key('inner'), $store);
check_same(['acquired' => 1], counted(fn () => $lock->acquire(true)), 'waitAndSave()');
$lock->release();
$store->inner = new FlockStore($directory);
$held = holder($directory, 'inner');
$pid = getmypid();
$helper = fork(function () use ($held, $pid) {
    wait_until_it_waits($pid);
    $held->say('release');
    return 0;
});
check_same(['acquired' => 1, 'waits' => 1], counted(fn () => $lock->acquire(true)), 'waitAndSave() within waitAndSave()');
$lock->release();
$helper->ending();
$held->ending();
echo "done\n";
--EXPECT--
done
