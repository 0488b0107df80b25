<?php

/**
 * LATCH_VENDOR has PHPUnit 9, LATCH_SYMFONY_TESTS the tests, LATCH_SEMAPHORE_TESTS those of Semaphore. The classes that Latch does not provide are in
 * the vendor folder, too (Symfony 6.4), or where LATCH_DEBIAN_LOCK says (5.4).
 */

declare(strict_types=1);

if (!extension_loaded('latch') || !ini_get('latch.symfony')) {
    fwrite(STDERR, "These tests need the extension with latch.symfony=1.\n");
    exit(2);
}

$loader = require getenv('LATCH_VENDOR') . '/autoload.php';
$loader->addPsr4('Symfony\\Component\\Lock\\Tests\\', (string) getenv('LATCH_SYMFONY_TESTS'));
if (getenv('LATCH_SEMAPHORE_TESTS')) {
    $loader->addPsr4('Symfony\\Component\\Semaphore\\Tests\\', (string) getenv('LATCH_SEMAPHORE_TESTS'));
    require_once __DIR__ . '/../../utils/redis.inc';
    $server = new Latch\Tests\RedisServer();
    putenv("REDIS_HOST=127.0.0.1:$server->port");
}
if (getenv('LATCH_DEBIAN_LOCK')) {
    require getenv('LATCH_DEBIAN_LOCK');
}
