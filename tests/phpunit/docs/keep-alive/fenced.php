<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

$database = new PDO('sqlite::memory:');
$database->exec('CREATE TABLE stock (id INT, amount INT, fencing INT); INSERT INTO stock VALUES (7, 0, 0)');
[$id, $amount] = [7, 3];
$lock = locks()->createLock('stock', ttl: 2)->keepAlive();
$lock->acquire();

require example('what-a-lock-cannot-do-1.php');
say($database->query('SELECT amount FROM stock')->fetchColumn() === 3 ? 'written' : 'not written');

// Somebody else has had it since.
$database->exec('UPDATE stock SET fencing = fencing + 1');
try {
    require example('what-a-lock-cannot-do-1.php');
} catch (RuntimeException $e) {
    say($e::class);
}
