<?php

/**
 * Plays the scenarios of Redis on the server at a port, under each circumstance, and prints the
 * transcripts as JSON. Started without the extension, it tells what Symfony does.
 */

declare(strict_types=1);

use Latch\Tests\Support\Redis\Scenarios;

require __DIR__ . '/../autoload.php';

$transcripts = [];
foreach (Scenarios::CIRCUMSTANCES as $circumstance) {
    $transcripts[$circumstance] = Scenarios::play((int) $argv[1], $circumstance);
}
echo json_encode($transcripts, JSON_THROW_ON_ERROR);
