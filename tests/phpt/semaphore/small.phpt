--TEST--
A held permit takes little memory, and none is left
--SKIPIF--
<?php
if (ZEND_DEBUG_BUILD) {
    die('skip a debug build of PHP marks the ends of each block');
}
if (getenv('USE_ZEND_ALLOC') === '0') {
    die('skip PHP counts only what its own allocator hands out');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Semaphore\SemaphoreFactory;
use Latch\Semaphore\Store\InMemoryStore;

const PERMITS = 10_000;

$factory = new SemaphoreFactory(new InMemoryStore());
$semaphores = array_fill(0, PERMITS, $factory->createSemaphore('the first', 1));
$before = memory_get_usage();
for ($i = 0; $i < PERMITS; $i++) {
    $semaphores[$i] = $factory->createSemaphore('s', PERMITS);
    $semaphores[$i]->acquire();
}
$each = (memory_get_usage() - $before) / PERMITS;
/* Semaphore, key, lease and PHP's table of objects: a lock's are 448 with their names, the key has 48 more. */
check($each <= 464, "$each bytes each");
check(!$factory->createSemaphore('s', PERMITS)->acquire(), 'all are held');
for ($round = 0; $round < 3; $round++) {
    $before = memory_get_usage();
    for ($i = 0; $i < 1000; $i++) {
        $one = $factory->createSemaphore('t', 5, 2);
        $one->acquire();
        $one->acquire(true, 0);
        outcome(fn () => $factory->createSemaphore('t', 1, 2));
        outcome(fn () => $factory->createSemaphore('t', 5, 4)->synchronized(fn () => 1, 0));
    }
    $grown = memory_get_usage() - $before;
}
check($grown < 1000, "$grown bytes more");
echo "done\n";
--EXPECT--
done
