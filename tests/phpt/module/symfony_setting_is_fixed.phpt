--TEST--
latch.symfony cannot be changed at run time, and is off by default
--FILE--
<?php
var_dump(ini_get('latch.symfony'));
var_dump(@ini_set('latch.symfony', '1'));
var_dump(ini_get('latch.symfony'));
var_dump(class_exists('Symfony\Component\Lock\Lock', false), interface_exists('Psr\Log\LoggerAwareInterface', false));
var_dump(method_exists('Latch\Lock', 'setLogger'), in_array('Psr\Log\LoggerAwareInterface', class_implements('Latch\Lock')));
var_dump(get_class(new Latch\Key('a')));
var_dump(ini_get_all('latch')['latch.symfony']['access'] === INI_SYSTEM);
--EXPECT--
string(1) "0"
bool(false)
string(1) "0"
bool(false)
bool(false)
bool(true)
bool(false)
string(9) "Latch\Key"
bool(true)
