<?php

/**
 * Gets PHPUnit ready for one of the modes of phpunit.xml, and makes sure that it is the one asked for:
 * a suite that runs without the extension by mistake would be green for no reason.
 */

declare(strict_types=1);

namespace Latch\Tests;

require __DIR__ . '/autoload.php';

$asked = getenv('LATCH_MODE');
$found = Support\Subject::mode();
if ($asked === false) {
    fwrite(STDERR, "mode: $found (LATCH_MODE is not set)\n");
} elseif ($asked !== $found) {
    fwrite(STDERR, "The mode is $found, but LATCH_MODE asks for $asked.\n");
    exit(2);
}
