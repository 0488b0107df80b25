<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

$import = new class () {
    public ?string $end = null;

    public function stopAfterThisRow(string $why): void
    {
        $this->end = $why;
    }
};
$lock = locks()->createLock('import', ttl: 2)->keepAlive();
$lock->acquire();
require example('when-the-lock-is-lost-2.php');

steal('import');
wait_until(static fn (): bool => $import->end !== null, 'the callback is called');
say("stopped: $import->end");
