<?php

// lock.rst, "Automatically Releasing The Lock": a child that ends
$lock = $factory->createLock('stock-count');
if (!$lock->acquire()) {
    return;
}

$pid = pcntl_fork();
if ($pid === -1) {
    exit(1);
}
if ($pid > 0) {
    sleep(30);
} else {
    echo 'the child ends';
    exit(0);
}
