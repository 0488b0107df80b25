<?php

// lock.rst, "SemaphoreStore"
use Symfony\Component\Lock\Store\SemaphoreStore;

$store = new SemaphoreStore();

// or, for this application alone
$store = new SemaphoreStore($projectId);
