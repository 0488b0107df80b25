<?php

// lock.rst, "Dealing with Concurrency with Locks"
$lock = $lockFactory->createLock('stock-count');
if (!$lock->acquire()) {
    return;
}

$service->count();

$lock->release();
