--TEST--
A key that was serialised and read again owns its lock in the same store
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\InMemoryStore;

const STATE = 'Symfony\Component\Lock\Store\InMemoryStore';

$store = new InMemoryStore();
$key = new Key('a');
$lock = new Lock($key, $store, null, false);
$lock->acquire();
check(strlen($key->getState(STATE)) === 44, 'the token, under the name that Symfony uses');
check($key->hasState(STATE), 'hasState()');
$copy = unserialize(serialize($key));
check_same($key->getState(STATE), $copy->getState(STATE), 'the token is handed over');
unset($lock, $key);
$second = new Lock($copy, $store);
check($second->isAcquired(), 'the copy has the lock');
check(!(new Lock(new Key('a'), $store))->acquire(), 'others have not');
check($second->acquire(), 'and can take it again');
$second->release();
check((new Lock(new Key('a'), $store))->acquire(), 'released by the copy');

/* A token that is removed or replaced by hand is gone. */
foreach ([fn ($key) => $key->removeState(STATE), fn ($key) => $key->setState(STATE, 'another')] as $change) {
    $key = new Key('b');
    $lock = new Lock($key, $store);
    $lock->acquire();
    $change($key);
    check(!$lock->isAcquired() && !$lock->isHeld(), 'no owner without the token');
    check(!(new Lock(new Key('b'), $store))->acquire(), 'but still locked');
    $store = new InMemoryStore();
}
/* A foreign token that cannot be one. */
foreach (['', str_repeat('x', 64), ['array'], 5, 1.5, true, new stdClass()] as $token) {
    $key = new Key('c');
    $key->setState(STATE, $token);
    $lock = new Lock($key, $store);
    try {
        $lock->acquire();
        echo 'BROKEN: token ', print_r($token, true), "\n";
    } catch (Latch\Exception\ExceptionInterface $e) {
        $said = $e->getMessage() . $e->getPrevious()?->getMessage();
        check(str_contains($said, 'token') || str_contains($said, STATE), $said);
    }
    check((new Lock(new Key('c'), $store))->acquire(), 'nothing is taken');
}
echo "done\n";
--EXPECT--
done
