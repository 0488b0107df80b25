<?php

// lock.rst, "Shared Locks": waiting for it
$lock = $factory->createLock('customer-' . $user->id);
$lock->acquireRead(true);
