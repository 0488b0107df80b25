<?php

/*
 * messenger.php ROUNDS FOLDER NAME=DSN...: what messages cost with the bundle for Symfony, with locks in these stores, see
 * lib/MessengerCosts.php.
 */

declare(strict_types=1);

namespace Latch\Benchmark;

require __DIR__ . '/../lib/autoload.php';

/** @var \Composer\Autoload\ClassLoader $loader */
$loader = require getenv('LATCH_APP_VENDOR') . '/autoload.php';
$loader->addPsr4('Latch\\Symfony\\', __DIR__ . '/../../bridge/symfony/src');

$stores = [];
foreach (array_slice($argv, 3) as $store) {
    [$name, $dsn] = explode('=', $store, 2);
    $stores[$name] = $dsn;
}

echo json_encode((new MessengerCosts($argv[2], $stores))->measure((int) $argv[1]), JSON_THROW_ON_ERROR);
