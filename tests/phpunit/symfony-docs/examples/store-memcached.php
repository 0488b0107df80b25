<?php

// lock.rst, "MemcachedStore"
use Symfony\Component\Lock\Store\MemcachedStore;

$client = new \Memcached();
$client->addServer('localhost', 11211);

$store = new MemcachedStore($client);
