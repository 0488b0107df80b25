<?php

declare(strict_types=1);

require __DIR__ . '/common.inc';

$connect = static fn (array $options): PDO => new PDO((string) getenv('LATCH_PDO'), 'latch', 'never-told-8642', $options);
$database = $connect([PDO::MYSQL_ATTR_FOUND_ROWS => true]);
$database->exec('CREATE TABLE stock (id INT, amount INT, fencing BIGINT)');
$database->exec('INSERT INTO stock VALUES (7, 0, 0)');
[$id, $amount] = [7, 3];
$lock = locks()->createLock('stock', ttl: 10);
$lock->acquire();

$write = static function () use (&$database, $id, $amount, $lock): string {
    try {
        require example('what-a-lock-cannot-do-1.php');
    } catch (RuntimeException $e) {
        return $e::class;
    }
    return 'written';
};
say($write());
say($write());
// What the page warns of.
$database = $connect([]);
say($write());
