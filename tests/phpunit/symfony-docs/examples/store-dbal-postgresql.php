<?php

// lock.rst, "DoctrineDbalPostgreSqlStore"
use Symfony\Component\Lock\Store\DoctrineDbalPostgreSqlStore;

$url = 'postgresql+advisory://myuser:mypassword@127.0.0.1:5634/lock';
$store = new DoctrineDbalPostgreSqlStore($url);
