<?php

// components/lock.rst of 7.4, "Blocking Locks"
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

$store = new RedisStore(new \Predis\Client('tcp://localhost:6379'));
$factory = new LockFactory($store);

$lock = $factory->createLock('stock-count');
$lock->acquire(true);
