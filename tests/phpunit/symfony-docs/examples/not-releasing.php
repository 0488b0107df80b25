<?php

// lock.rst, "Automatically Releasing The Lock": switched off
$lock = $factory->createLock(
    'stock-count',
    3600,
    false
);
