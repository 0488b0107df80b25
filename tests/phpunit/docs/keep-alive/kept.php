<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

/** Longer than the TTL. */
function exportCatalogue(): void
{
    sleep(3);
    say(server()->exists('export') ? 'exported under the lock' : 'exported without a lock');
}

require example('locks-that-are-kept-while-the-work-runs-1.php');

say(server()->exists('export') ? 'held' : 'free');
