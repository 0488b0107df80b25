<?php

/**
 * Gets PHPUnit ready. The application has a vendor folder of its own, named by LATCH_APP_VENDOR.
 */

declare(strict_types=1);

namespace Latch\Laravel\Tests;

if (\extension_loaded('latch')) {
    fwrite(STDERR, "Latch is for the application alone.\n");
    exit(2);
}
/** @var \Composer\Autoload\ClassLoader $loader */
$loader = require getenv('LATCH_VENDOR') . '/autoload.php';
$loader->addPsr4('Latch\\Laravel\\Tests\\', __DIR__);
$utils = \dirname(__DIR__, 3) . '/tests/utils';
require_once "$utils/memcached.inc";
require_once "$utils/mysql.inc";
require_once "$utils/postgresql.inc";
require_once "$utils/redis.inc";
require_once "$utils/redis_cluster.inc";
require_once "$utils/redis_sentinel.inc";
require_once "$utils/redis_tls.inc";
