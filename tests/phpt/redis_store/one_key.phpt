--TEST--
RedisStore: a key that is used in two stores has one token, by which a process knows it that it was handed to
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Key;
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$one = new RedisServer();
$two = new RedisServer();
$key = new Key('r');

$store = new RedisStore($one->dsn());
$same = new RedisStore($one->dsn('?timeout=3'));
$store->save($key);
check($same->exists($key), 'another connection to the server knows the key');
$same->save($key);
$other = new RedisStore($two->dsn());
$other->save($key);
check_same($one->command('ZRANGE', 'r', 0, -1), $two->command('ZRANGE', 'r', 0, -1), 'the tokens');

$copy = unserialize(serialize($key));
foreach ([$store, $other] as $number => $store) {
    check($store->exists($copy), "server $number knows the copy");
    $store->delete($copy);
    check(!$store->exists($key), "server $number has released the lock");
}
check(!$same->exists($key), 'so has the other connection');
echo "done\n";
?>
--EXPECT--
done
