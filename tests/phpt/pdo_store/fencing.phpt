--TEST--
PdoStore with the option "fencing": each holder has a larger token, where the database has a source of them
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
$tokens = [];
foreach ([true, 1, '1'] as $on) {
    foreach ([new PdoStore($pdo, ['fencing' => $on]), new PdoStore("sqlite:$file", ['fencing' => $on])] as $store) {
        $lock = new Lock(new Key('r'), $store, 30);
        check_same(null, $lock->getFencingToken(), 'none without the lock');
        check($lock->acquire(), 'acquired');
        $tokens[] = $lock->getFencingToken();
        $lock->refresh();
        check_same(end($tokens), $lock->getFencingToken(), 'as long as it is held');
        $lock->release();
    }
}
check_same(range(1, 6), $tokens, 'one after the other, by whatever connection');
foreach ([[], ['fencing' => false], ['fencing' => null], ['fencing' => 0], ['fencing' => '0']] as $options) {
    $lock = new Lock(new Key('r'), new PdoStore($pdo, $options), 30);
    check($lock->acquire(), 'acquired');
    check_same(null, $lock->getFencingToken(), 'not asked for');
    $lock->release();
}

/* A table that is there without a source. */
$pdo->exec('DROP TABLE lock_keys_fence');
$store = new PdoStore($pdo, ['fencing' => true]);
$lock = new Lock(new Key('r'), $store, 30);
check_same([true, null], [$lock->acquire(), $lock->getFencingToken()], 'no source');
$lock->release();
check(str_contains(outcome(fn () => $store->createTable()), 'already exists'), 'which createTable() makes');
check_same([true, 1], [$lock->acquire(), $lock->getFencingToken()], 'then there is one');

foreach ([['fencing' => []], ['fencing' => 1.5], ['fencing' => new stdClass()]] as $options) {
    echo outcome(fn () => new PdoStore($pdo, $options)), "\n";
}
echo outcome(fn () => new PdoStore('oci:dbname=x', ['fencing' => true])), "\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "fencing" that is not a boolean
Latch\Exception\InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "fencing" that is not a boolean
Latch\Exception\InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "fencing" that is not a boolean
Latch\Exception\InvalidArgumentException: Latch\Store\PdoStore::__construct(): Argument #2 ($options) has an option "fencing" that is for PostgreSQL, MySQL and SQLite alone
