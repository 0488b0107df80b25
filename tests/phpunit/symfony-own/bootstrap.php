<?php

/**
 * LATCH_VENDOR has PHPUnit 9, LATCH_DEBIAN_LOCK the classes of Symfony 5.4 that Latch does not provide,
 * LATCH_SYMFONY_TESTS the tests.
 */

declare(strict_types=1);

if (!extension_loaded('latch') || !ini_get('latch.symfony')) {
    fwrite(STDERR, "These tests need the extension with latch.symfony=1.\n");
    exit(2);
}

$loader = require getenv('LATCH_VENDOR') . '/autoload.php';
$loader->addPsr4('Symfony\\Component\\Lock\\Tests\\', (string) getenv('LATCH_SYMFONY_TESTS'));
require getenv('LATCH_DEBIAN_LOCK');
