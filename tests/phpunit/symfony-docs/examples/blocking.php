<?php

// lock.rst, "Blocking Locks"
$lock = $factory->createLock('stock-count');
$lock->acquire(true);
