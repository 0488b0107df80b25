<?php

/**
 * Plays the scenarios of CallOrder for one kind of store and prints the transcripts as JSON. Started
 * without the extension, it tells what Symfony does.
 */

declare(strict_types=1);

use Latch\Tests\Support\CallOrder\Scenarios;

require __DIR__ . '/../autoload.php';

$transcripts = [];
foreach (Scenarios::SEQUENCES as $sequence) {
    $transcripts[$sequence] = Scenarios::play($argv[1], $sequence);
}
echo json_encode($transcripts, JSON_THROW_ON_ERROR);
