<?php

// lock.rst, "RedisStore"
use Symfony\Component\Lock\Store\RedisStore;

$client = new \Redis();
$client->connect('localhost');

$store = new RedisStore($client);
