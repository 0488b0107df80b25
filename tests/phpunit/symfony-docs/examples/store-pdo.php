<?php

// lock.rst, "PdoStore"
use Symfony\Component\Lock\Store\PdoStore;

$dsn = 'mysql:host=127.0.0.1;dbname=app';
$store = new PdoStore($dsn, ['db_username' => 'myuser', 'db_password' => 'mypassword']);
