<?php

/**
 * Loads Composer's packages and the helpers of this folder, for PHPUnit and for the programs that the
 * tests start. Where the extension is not loaded, the names Latch\… become aliases of Symfony's classes.
 *
 * LATCH_VENDOR names the vendor folder; tools/test keeps it outside the tree.
 */

declare(strict_types=1);

namespace Latch\Tests;

$vendor = getenv('LATCH_VENDOR') ?: __DIR__ . '/vendor';
/** @var \Composer\Autoload\ClassLoader $loader */
$loader = require "$vendor/autoload.php";
$loader->addPsr4('Latch\\Tests\\', __DIR__);
require_once __DIR__ . '/../utils/memcached.inc';
require_once __DIR__ . '/../utils/mysql.inc';
require_once __DIR__ . '/../utils/postgresql.inc';
require_once __DIR__ . '/../utils/redis.inc';

if (Support\Subject::mode() === 'oracle') {
    Support\Subject::aliasSymfony();
}
