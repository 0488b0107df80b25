<?php

// lock.rst, "Expiring Locks": a TTL, and a release whatever happens
$lock = $factory->createLock('stock-count', ttl: 30);

if (!$lock->acquire()) {
    return;
}
try {
    // half a minute is enough to count
} finally {
    $lock->release();
}
