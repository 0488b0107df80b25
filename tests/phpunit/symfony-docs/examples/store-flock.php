<?php

// lock.rst, "FlockStore"
use Symfony\Component\Lock\Store\FlockStore;

$store = new FlockStore('/var/stores');
