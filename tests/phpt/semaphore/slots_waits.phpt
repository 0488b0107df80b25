--TEST--
Waits for slots end by a release, a killed holder, a time-out and a signal, and leave nothing behind
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_slots.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Store\FlockStore;

pcntl_async_signals(true);
$directory = temporary_directory();
$postgresql = Ground::postgresql();
foreach ([
    'files' => fn () => slots_in(new FlockStore($directory)),
    'PostgreSQL' => fn () => slots_in($postgresql->store()),
] as $name => $open) {
    $make = fn (int $weight) => new Semaphore(new Key('s', 3, $weight), $open());
    $holder = fn () => fork(function (ParentLine $parent) use ($make) {
        $semaphore = $make(2);
        $parent->say($semaphore->acquire() ? 'held' : 'refused');
        $parent->hear();
        $semaphore->release();
        return 0;
    });

    /* Time-outs. */
    $child = $holder();
    $child->hear_exactly('held');
    $semaphore = $make(2);
    foreach ([0.0, 0.3] as $timeout) {
        $begun = hrtime(true);
        check(!$semaphore->acquire(true, $timeout), "$name: in vain for $timeout s");
        $took = (hrtime(true) - $begun) / 1e9;
        check($took >= $timeout && $took < $timeout + 5, "$name: $took s");
        check(!$semaphore->isHeld() && !$semaphore->isAcquired(), "$name: nothing is held");
    }
    check_same(1, $make(2)->available(), "$name: what is free");

    /* Signals: handlers run, and may throw. */
    $pid = getmypid();
    $signaller = function () use ($pid): Child {
        return fork(function () use ($pid) {
            usleep(300000);
            posix_kill($pid, SIGUSR1);
            return 0;
        });
    };
    $handled = 0;
    pcntl_signal(SIGUSR1, function () use (&$handled, $child) {
        $handled++;
        $child->say('release');
    });
    $other = $signaller();
    check($semaphore->acquire(true) && $handled === 1, "$name: a handler lets it be had");
    $other->ending();
    check_same('exit 0', $child->ending(), "$name: its holder");
    $semaphore->release();

    $child = $holder();
    $child->hear_exactly('held');
    pcntl_signal(SIGUSR1, fn () => throw new FromHandler('stop'));
    foreach ([null, PATIENCE] as $timeout) {
        $other = $signaller();
        check_same('FromHandler: stop', outcome(fn () => $semaphore->acquire(true, $timeout)), "$name: a handler throws");
        $other->ending();
        check(!$semaphore->isHeld() && $make(1)->available() === 1, "$name: nothing is taken");
    }
    pcntl_signal(SIGUSR1, SIG_DFL);

    /* A killed holder. */
    $child->kill();
    check($semaphore->acquire(true, PATIENCE), "$name: what a dead process had");
    unset($semaphore);
    $all = $make(3);
    check($all->acquire(true, PATIENCE), "$name: all of it");
    $all->release();
    $child->ending();
}
check_same([0, 0], [$postgresql->server->held(), slots_locked($directory, 3)], 'what is left');

/* Many who want more than one at a time: all get it in the end, and never too many at once. */
$census = "$directory/census";
$children = [];
foreach ([1, 2, 2, 3] as $weight) {
    $children[] = fork(function () use ($directory, $census, $weight) {
        for ($at = 0; $at < 25; $at++) {
            $semaphore = flock_semaphore($directory, 4, $weight);
            if (!$semaphore->acquire(true, PATIENCE)) {
                return 1;
            }
            $file = fopen($census, 'c+');
            flock($file, LOCK_EX);
            $now = (int) stream_get_contents($file) + $weight;
            rewind($file);
            fwrite($file, sprintf('%08d', $now));
            flock($file, LOCK_UN);
            if ($now > 4) {
                return 2;
            }
            usleep(random_int(0, 2000));
            flock($file, LOCK_EX);
            rewind($file);
            $now = (int) stream_get_contents($file) - $weight;
            rewind($file);
            fwrite($file, sprintf('%08d', $now));
            fclose($file);
            $semaphore->release();
        }
        return 0;
    });
}
check_same(['exit 0', 'exit 0', 'exit 0', 'exit 0'], array_map(fn (Child $child) => $child->ending(), $children), 'a crowd');
check_same(0, (int) file_get_contents($census), 'none is out');
echo "done\n";
--EXPECT--
done
