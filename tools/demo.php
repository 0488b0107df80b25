<?php

/*
 * Latch's main job: several processes book from one shared file. tools/demo starts this, installs
 * and builds what it needs, and explains the options; the classes are in tools/lib/demo.
 */

declare(strict_types=1);

namespace Latch\Demo;

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, __NAMESPACE__ . '\\')) {
        require __DIR__ . '/lib/demo/' . substr($class, strlen(__NAMESPACE__) + 1) . '.php';
    }
});

$options = getopt('', ['workers:', 'bookings:', 'no-contrast']);

exit((new Demo(
    workers: (int) ($options['workers'] ?? 8),
    bookings: (int) ($options['bookings'] ?? 100_000),
    contrast: !isset($options['no-contrast']),
))->main());
