<?php

// lock.rst, "Expiring Stores"
$lock = $factory->createLock('stock-count', 30);

if (!$lock->acquire()) {
    return;
}
while (!$finished) {
    if ($lock->getRemainingLifetime() <= 5) {
        if ($lock->isExpired()) {
            throw new \RuntimeException('Somebody else may be counting');
        }

        $lock->refresh();
    }

    // count the next shelf, which takes less than 5 s
}
