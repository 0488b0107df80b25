--TEST--
RedisStore::listHeld() lists the semaphores of which permits are held, each as inspect() tells it
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = new RedisStore($server->dsn());
check_same([], $store->listHeld(), 'nothing is held');
$make = fn (string $name, int $limit, int $weight) => new Semaphore(new Key($name, $limit, $weight), $store);
$held = [$make('one', 5, 2), $make('one', 4, 1), $make("odd}\0{name", 2 ** 53, 2 ** 53)];
foreach ($held as $semaphore) {
    check($semaphore->acquire(), 'acquired');
}
$listed = array_column($store->listHeld(), null, 'name');
check_same(2, count($listed), 'two semaphores');
foreach (['one' => 3, "odd}\0{name" => 2 ** 53] as $name => $used) {
    /** All but the time that is left. */
    $plain = function (array $report): array {
        usort($report['holders'], fn (array $left, array $right) => $left['id'] <=> $right['id']);
        foreach ($report['holders'] as &$holder) {
            check($holder['remaining'] > 290 && $holder['remaining'] <= 301, 'the time that is left');
            unset($holder['remaining']);
        }
        return $report;
    };
    check_same($plain($store->inspect(new Key($name, 1))), $plain($listed[$name]), 'as inspect() tells it');
    check_same($used, $listed[$name]['used'], 'permits in use');
}

/* Holders on Symfony alone are listed when they are asked for. */
$token = base64_encode(random_bytes(32));
$server->command('ZADD', '{theirs}:weight', 2, $token);
$server->command('ZADD', '{theirs}:time', time() + 100, $token);
$names = function (bool $foreign) use ($store): array {
    $names = array_column($store->listHeld($foreign), 'name');
    sort($names);
    return $names;
};
check_same(["odd}\0{name", 'one'], $names(false), 'without peers');
check_same(["odd}\0{name", 'one', 'theirs'], $names(true), 'with peers');
check_same([], (new RedisStore($server->dsn('?prefix=app:')))->listHeld(true), 'another prefix');
$held = [];
unset($semaphore);
check_same(['theirs'], $names(true), 'in the end');

check(preg_match('/^Latch.Semaphore.Exception.SemaphoreStorageException: Failed to list the semaphores: /',
    $outcome = outcome(fn () => (new RedisStore('redis://127.0.0.1:1'))->listHeld())) === 1, $outcome);
check(preg_match('/^Latch.Exception.LockStorageException: Failed to list the locks: /',
    $outcome = outcome(fn () => (new Latch\Store\RedisStore('redis://127.0.0.1:1'))->listHeld())) === 1, $outcome);
echo "done\n";
--EXPECT--
done
