--TEST--
A lock is released when its variable gets another value
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$keys = [new Key('file'), new Key('php')];
$php = new RecordingStore($directory);
$first = new Lock($keys[0], new FlockStore($directory));
$second = new Lock($keys[1], $php);
$first->acquire();
$second->acquire();
check(!is_free($directory, 'file') && $php->is_locked('php'), 'held');
$first = new Lock(new Key('another'), new FlockStore($directory));
$second = null;
check(is_free($directory, 'file') && !$php->is_locked('php'), 'released by reassignment');
echo "done\n";
--EXPECT--
done
