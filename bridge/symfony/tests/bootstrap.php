<?php

declare(strict_types=1);

if (!extension_loaded('latch')) {
    fwrite(STDERR, "The bundle needs the extension: php -d extension=…/latch.so\n");
    exit(2);
}
/** @var Composer\Autoload\ClassLoader $loader */
$loader = require getenv('LATCH_APP_VENDOR') . '/autoload.php';
$loader->addPsr4('Latch\\Symfony\\Tests\\', __DIR__);
$loader->addPsr4('Latch\\Symfony\\', dirname(__DIR__) . '/src');
require_once dirname(__DIR__, 3) . '/tests/utils/redis.inc';
