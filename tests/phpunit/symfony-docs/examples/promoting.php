<?php

// lock.rst, "Shared Locks": from reading to writing
$lock = $factory->createLock('customer-' . $userId);
$lock->acquireRead(true);

if (!$this->shouldUpdate($userId)) {
    return;
}

$lock->acquire(true);
$this->update($userId);
