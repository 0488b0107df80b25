<?php

/**
 * A process of the application, which does what the test says, line by line: process.php DIRECTORY
 *
 * A line is the PHP code of a function's body with $app, $locks (by name, kept from line to line) and $arguments. The answer:
 * what it returns or throws, and when.
 */

declare(strict_types=1);

use Illuminate\Contracts\Console\Kernel;

/** @var Composer\Autoload\ClassLoader $loader */
$loader = require getenv('LATCH_APP_VENDOR') . '/autoload.php';
$loader->addPsr4('Latch\\Laravel\\', dirname(__DIR__, 2) . '/src');
$app = require "$argv[1]/bootstrap/app.php";
$app->make(Kernel::class)->bootstrap();

$locks = new ArrayObject();
while (($line = fgets(STDIN)) !== false) {
    [$code, $arguments] = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    $code = 'use Illuminate\\Support\\Facades\\{Cache, DB, Artisan, Schema}; return static function ($app, $locks, $arguments) {'
        . "$code};";
    $begun = hrtime(true);
    try {
        $answer = ['result' => (eval($code))($app, $locks, $arguments)];
    } catch (Throwable $e) {
        $answer = ['error' => $e::class, 'message' => $e->getMessage(), 'trace' => "{$e->getFile()}:{$e->getLine()}\n{$e->getTraceAsString()}"];
    }
    fwrite(STDOUT, json_encode($answer + ['begun' => $begun, 'ended' => hrtime(true)], JSON_THROW_ON_ERROR) . "\n");
}
