<?php

/**
 * Plays the scenarios of combined stores for one kind of members and prints the transcripts as JSON.
 * Started without the extension, it tells what Symfony does.
 */

declare(strict_types=1);

use Latch\Tests\Support\Combined\Scenarios;

require __DIR__ . '/../autoload.php';

echo json_encode(Scenarios::play($argv[1]), JSON_THROW_ON_ERROR);
