--TEST--
A store with many locks whose keys are gone is closed as fast as it was filled
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\LockFactory;
use Latch\Store\InMemoryStore;

const LOCKS = 30_000;

$factory = new LockFactory(new InMemoryStore());
$begun = hrtime(true);
for ($i = 0; $i < LOCKS; $i++) {
    $factory->createLock("resource-$i", null, false)->acquire();
}
$filled = hrtime(true);
unset($factory);
$closed = hrtime(true);
check($closed - $filled < 5 * ($filled - $begun), sprintf(
    '%.3f s to close what was filled in %.3f s',
    ($closed - $filled) / 1e9,
    ($filled - $begun) / 1e9
));
echo "done\n";
--EXPECT--
done
