<?php

// lock.rst, "Shared Locks"
$lock = $factory->createLock('customer-' . $user->id);
if (!$lock->acquireRead()) {
    return;
}
