<?php

/**
 * Loads Composer's packages (LATCH_VENDOR) and the helpers, for PHPUnit and for the processes that run the
 * examples. These say themselves whether they are on Latch.
 */

declare(strict_types=1);

/** @var \Composer\Autoload\ClassLoader $loader */
$loader = require getenv('LATCH_VENDOR') . '/autoload.php';
$loader->addPsr4('Latch\\Tests\\SymfonyDocs\\', __DIR__);
$loader->addPsr4('Latch\\Tests\\Support\\', dirname(__DIR__) . '/Support');
