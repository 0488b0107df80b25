--TEST--
PdoStore tells for how long a lock is held and which rows are there, by a DSN and by an object, and takes a lock away
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\PdoStore;

$file = temporary_directory() . '/locks.db';
$pdo = new PDO("sqlite:$file");
$free = ['name' => 'r', 'mode' => null, 'holders' => [], 'holderCount' => 0, 'waiters' => 0];
(new PdoStore($pdo))->createTable();
foreach ([new PdoStore($pdo), new PdoStore("sqlite:$file"), new PdoStore($pdo, ['names' => 'both'])] as $at => $store) {
    $key = new Key('r');
    check_same([$free, []], [$store->inspect($key), $store->listHeld()], "$at: nothing is held");
    $lock = new Lock($key, $store, 30);
    $lock->acquire();
    $found = $store->inspect(new Key('r'));
    $holder = $found['holders'][0];
    check($holder['remaining'] > 29 && $holder['remaining'] <= 30.01, "$at: for how long: $holder[remaining]");
    check_same(substr(hash('sha256', $key->__serialize()['state']['Symfony\Component\Lock\Store\PdoStore']), 0, 16), $holder['id'], "$at: the token's digest");
    check_same(
        ['name' => 'r', 'mode' => 'exclusive', 'holders' => [['pid' => null, 'host' => null, 'script' => null, 'since' => null,
            'remaining' => $holder['remaining'], 'fencingToken' => null, 'id' => $holder['id']]], 'holderCount' => 1, 'waiters' => 0],
        $found,
        "$at: all that is told"
    );
    $list = $store->listHeld();
    check_same($at < 2 ? [[hash('sha256', 'r'), true]] : [['r', null]],
        array_map(fn (array $one) => [$one['name'], $one['hashed'] ?? null], $list), "$at: one lock, by its row's name");
    check_same($holder['id'], $list[0]['holders'][0]['id'], "$at: and its holder");

    check_same(0, $store->forceRelease($key, ['0123456789abcdef']), "$at: of another holder");
    check($lock->isAcquired(), "$at: held");
    check_same(1, $store->forceRelease($key, [$holder['id']]), "$at: taken away");
    check(!$lock->isAcquired(), "$at: as its holder learns");
    check_same([$free, []], [$store->inspect($key), $store->listHeld()], "$at: nothing is held");
    (new Lock($next = new Key('r'), $store, 30, false))->acquire();
    check_same(0, $store->forceRelease($key, [$holder['id']]), "$at: a later holder keeps it");
    check($store->exists($next), "$at: held");
    $store->delete($next);
    check(str_contains(outcome(fn () => $store->forceRelease($key, [1])), 'InvalidArgumentException'), "$at: an id that is none");
}

/* Where there are no statements. */
$other = new PdoStore('oci:dbname=x');
foreach ([fn () => $other->inspect(new Key('r')), fn () => $other->listHeld(), fn () => $other->forceRelease(new Key('r'), ['0123456789abcdef'])] as $ask) {
    echo outcome($ask), "\n";
}
--EXPECT--
Latch\Exception\LockStorageException: Failed to inspect the "r" lock: this database cannot tell who holds a lock: PostgreSQL, MySQL and SQLite can.
Latch\Exception\LockStorageException: Failed to list the locks: this database cannot tell who holds a lock: PostgreSQL, MySQL and SQLite can.
Latch\Exception\LockStorageException: Failed to take away the "r" lock: this database cannot tell who holds a lock: PostgreSQL, MySQL and SQLite can.
