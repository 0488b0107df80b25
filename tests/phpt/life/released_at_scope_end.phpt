--TEST--
A lock is released at the end of the scope that holds it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$flock = new FlockStore($directory);
$php = new RecordingStore($directory);
/* The keys live on, so that it is not their end that frees the locks. */
$keys = [new Key('file'), new Key('php')];

function scope(FlockStore $flock, RecordingStore $php, array $keys): void
{
    $first = new Lock($keys[0], $flock);
    $second = new Lock($keys[1], $php);
    check($first->acquire() && $second->acquire(), 'acquired');
    check(!is_free($flock_directory = $php->directory, 'file'), 'held in the scope');
    check($php->is_locked('php'), 'held in the PHP store in the scope');
}

scope($flock, $php, $keys);
check(is_free($directory, 'file'), 'released at the end of the scope');
check(!$php->is_locked('php'), 'released in the PHP store at the end of the scope');
check_same(['save php', 'exists php', 'delete php', 'exists php'], $php->calls(), 'calls');
echo "done\n";
--EXPECT--
done
