--TEST--
A key's lifetime only shrinks until it is reset
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Key;

$key = new Key('resource');
check_same(null, $key->getRemainingLifetime(), 'no expiry at first');
check_same(false, $key->isExpired(), 'not expired');
$key->reduceLifetime(1000);
check($key->getRemainingLifetime() <= 1000 && $key->getRemainingLifetime() > 900, '1000 s');
$key->reduceLifetime(2000);
check($key->getRemainingLifetime() <= 1000, 'not more than before');
$key->reduceLifetime(500.5);
check($key->getRemainingLifetime() <= 500.5 && $key->getRemainingLifetime() > 400, 'less');
check(!$key->isExpired(), 'not expired');
$key->reduceLifetime(0);
check($key->isExpired(), 'expired at once');
$key->reduceLifetime(-100);
check($key->isExpired() && $key->getRemainingLifetime() < -99, 'in the past');
$key->reduceLifetime(10);
check($key->isExpired(), 'stays in the past');
$key->resetLifetime();
check_same(null, $key->getRemainingLifetime(), 'reset');
check(!$key->isExpired(), 'not expired any more');
$key->reduceLifetime(1e300);
check($key->getRemainingLifetime() > 1e299, 'far');
foreach ([NAN, INF, -INF] as $ttl) {
    try {
        $key->reduceLifetime($ttl);
        echo "BROKEN: $ttl\n";
    } catch (Latch\Exception\InvalidTtlException $e) {
        check(str_contains($e->getMessage(), '$ttl'), $e->getMessage());
    }
}
/* The wall clock: it means the same in another process. */
$key->resetLifetime();
$key->reduceLifetime(100);
$copy = unserialize(serialize($key));
check(abs($copy->getRemainingLifetime() - $key->getRemainingLifetime()) < 10, 'serialised along');
check(abs($key->__serialize()['expiringTime'] - microtime(true) - 100) < 10, 'seconds since 1970');
echo "done\n";
--EXPECT--
done
