<?php

// lock.rst, "Expiring Locks": refreshed again and again
$lock = $factory->createLock('stock-count', ttl: 30);

if (!$lock->acquire()) {
    return;
}
try {
    while (!$finished) {
        // count the next shelf, then have half a minute more
        $lock->refresh();
    }
} finally {
    $lock->release();
}
