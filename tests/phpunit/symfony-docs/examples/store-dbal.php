<?php

// lock.rst, "DoctrineDbalStore"
use Symfony\Component\Lock\Store\DoctrineDbalStore;

$url = 'mysql://myuser:mypassword@127.0.0.1/app';
$store = new DoctrineDbalStore($url);
