<?php

/*
 * For PHPStan's option --autoload-file: the logger's interface, from the folder in LATCH_VENDOR, and the
 * rule of ours.
 */

declare(strict_types=1);

require getenv('LATCH_VENDOR') . '/autoload.php';

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/rules/' . substr((string) strrchr($class, '\\'), 1) . '.php';
    if (str_starts_with($class, 'Latch\\Tests\\PhpStan\\') && is_file($file)) {
        require $file;
    }
});
