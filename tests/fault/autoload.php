<?php

/**
 * Loads the classes of lib/, and Composer's packages (PHPUnit, Symfony's Lock) from the folder that
 * LATCH_VENDOR names; tools/test keeps it outside the tree.
 */

declare(strict_types=1);

namespace Latch\Tests\Fault;

require getenv('LATCH_VENDOR') . '/autoload.php';
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, __NAMESPACE__ . '\\')) {
        require __DIR__ . '/lib' . strtr(substr($class, \strlen(__NAMESPACE__)), '\\', '/') . '.php';
    }
});
