<?php

// lock.rst, "PostgreSqlStore"
use Symfony\Component\Lock\Store\PostgreSqlStore;

$dsn = 'pgsql:host=localhost;port=5634;dbname=app';
$store = new PostgreSqlStore($dsn, ['db_username' => 'myuser', 'db_password' => 'mypassword']);
