<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

function importPrices(PDO $database): void
{
    $database->exec('INSERT INTO prices VALUES (1)');
    steal('prices');
    wait_until(static fn (): bool => false, 'the loss is thrown');
}

$database = new PDO('sqlite::memory:');
$database->exec('CREATE TABLE prices (price INT)');
$lock = locks()->createLock('prices', ttl: 2)->keepAlive();
$lock->acquire();
try {
    require example('when-the-lock-is-lost-3.php');
} catch (Latch\Exception\LockExpiredException $e) {
    say((new ReflectionClass($e))->getShortName());
    say($database->query('SELECT COUNT(*) FROM prices')->fetchColumn() . ' prices');
}
