<?php

// lock.rst, "CombinedStore": the majority
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;

$stores = [];
foreach (['server1', 'server2', 'server3'] as $host) {
    $client = new \Redis();
    $client->connect($host);

    $stores[] = new RedisStore($client);
}

$store = new CombinedStore($stores, new ConsensusStrategy());
