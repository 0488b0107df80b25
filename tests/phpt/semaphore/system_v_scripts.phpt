--TEST--
Semaphores by System V semaphores share their permits with scripts that call sem_get($key, $limit)
--EXTENSIONS--
sysvsem
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\SemaphoreStore;

foreach (['xxh128', 'xxh64', 'md5'] as $digest) {
    $project = 'latch phpt ' . bin2hex(random_bytes(8));
    $key = unpack('i', hash($digest, "$project\0permits\0s", true))[1];
    $store = new SemaphoreStore($project, $digest);
    $make = fn (int $limit, int $weight = 1) => new Semaphore(new Key('s', $limit, $weight), $store);
    $script = fn () => fork(function (ParentLine $parent) use ($key) {
        $set = sem_get($key, 3);
        $parent->say(sem_acquire($set, true) ? 'held' : 'refused');
        $parent->hear_exactly('release');
        sem_release($set);
        $parent->say('released');
        $parent->stay();
    });

    /* Latch is first. */
    $two = $make(3, 2);
    $two->acquire();
    $other = $script();
    $other->hear_exactly('held');
    check_same(0, $two->available(), "$digest: all are out");
    $last = $script();
    $last->hear_exactly('refused');
    $last->kill();
    $last->ending();
    check(!$make(3)->acquire(), "$digest: none is left for us");
    $other->say('release');
    $other->hear_exactly('released');
    check_same(1, $two->available(), "$digest: a script has given it back");
    $two->release();
    $other->kill();
    $other->ending();

    /* A script is first, is waited for, and is killed. */
    $other = $script();
    $other->hear_exactly('held');
    check($make(3, 2)->acquire() && !$make(3, 3)->acquire(), "$digest: beside it");
    $all = $make(3, 3);
    check(!$all->acquire(true, 0.1), "$digest: it holds on");
    $other->kill();
    check($all->acquire(true, PATIENCE), "$digest: the kernel gives back what it had");
    $other->ending();
    check_same(0, $all->available(), "$digest: all are ours");
    $all->release();
    if ($set = @sem_get($key, 3)) {
        sem_remove($set); // scripts leave theirs
    }
}
echo "done\n";
--EXPECT--
done
