--TEST--
A held lock takes little memory, and the cycle collector adds nothing to it
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

use Latch\{Lock, LockFactory};
use Latch\Store\InMemoryStore;

const LOCKS = 10_000;

$factory = new LockFactory(new InMemoryStore());
$locks = array_fill(0, LOCKS, $factory->createLock('the first'));
$before = memory_get_usage();
for ($i = 0; $i < LOCKS; $i++) {
    $locks[$i] = $factory->createLock("resource-$i");
    $locks[$i]->acquire();
}
$each = (memory_get_usage() - $before) / LOCKS;
/* Lock, key, lease, resource and PHP's table of objects; the engine's own 64 bytes are not among it. */
check($each <= 448, "$each bytes each");
gc_collect_cycles();
$after = (memory_get_usage() - $before) / LOCKS;
check($after < $each + 8, "$after bytes each after a collection");
echo "done\n";
--EXPECT--
done
