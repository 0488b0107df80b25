<?php

/**
 * A watchman: watch.php FILE, bound to one processor. Whenever it had that one for so long not as no process
 * on it can have had it, it says so in FILE: the machine's host is busy, or the machine itself.
 */

declare(strict_types=1);

namespace Latch\Tests\Fault;

use Latch\Tests\Fault\Record\Fault;
use Latch\Tests\Fault\Record\Faults;
use Latch\Tests\Fault\Record\Writer;

require __DIR__ . '/autoload.php';

/** From one look at the clock to the next, in µs; and what is too long for that, in ns. */
const PAUSE = 10_000;
const STALL = 100_000_000;

$records = new Writer($argv[1]);
$time = hrtime(true);
while (true) {
    usleep(PAUSE);
    $now = hrtime(true);
    if ($now - $time > STALL) {
        $records->write(Fault::Stall->value, $time, Faults::ALL, $now);
    }
    $time = $now;
}
