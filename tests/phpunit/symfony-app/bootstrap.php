<?php

/**
 * Gets PHPUnit ready. Neither it nor the tests use anything of Symfony's: the application, which does, has a
 * vendor folder of its own, named by LATCH_APP_VENDOR.
 */

declare(strict_types=1);

namespace Latch\Tests\SymfonyApp;

if (\extension_loaded('latch')) {
    fwrite(STDERR, "Latch is for the application alone.\n");
    exit(2);
}
$vendor = getenv('LATCH_VENDOR') ?: \dirname(__DIR__) . '/vendor';
/** @var \Composer\Autoload\ClassLoader $loader */
$loader = require "$vendor/autoload.php";
$loader->addPsr4('Latch\\Tests\\', \dirname(__DIR__));
$loader->addPsr4('Latch\\Tests\\SymfonyApp\\', __DIR__);
require_once \dirname(__DIR__, 2) . '/utils/postgresql.inc';
require_once \dirname(__DIR__, 2) . '/utils/redis.inc';
