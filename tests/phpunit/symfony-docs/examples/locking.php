<?php

// lock.rst, "Locking a Resource", standalone
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\SemaphoreStore;

$factory = new LockFactory($store = new SemaphoreStore());
$lock = $factory->createLock('stock-count');

if ($lock->acquire()) {
    // the stock is counted by nobody else

    $lock->release();
}
