--TEST--
Any bytes are a resource but none: NUL bytes, a megabyte
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Store\{FlockStore, InMemoryStore};

$directory = temporary_directory();
$resources = [' ', '0', "\0", "a\0b", "a\0c", str_repeat('x', 1 << 20), str_repeat('x', (1 << 20) - 1),
    str_repeat("\xff", 1000), '../../etc/passwd', '/', '.', '..', "a\nb", 'ä', 'Ä', 'a', 'A', '%s%n', '{resource}',
    str_repeat('/', 300), 'a-b', 'a--b', 'a b'];
foreach (['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'PHP' => new RecordingStore($directory)] as $name => $store) {
    $locks = [];
    foreach ($resources as $at => $resource) {
        $locks[$at] = new Lock(new Key($resource), $store);
        check($locks[$at]->acquire(), "$name: resource $at is a resource of its own");
    }
    foreach ($resources as $at => $resource) {
        check($locks[$at]->isAcquired() && $locks[$at]->isHeld(), "$name: resource $at is held");
        check(!(new LockFactory($store))->createLock($resource)->acquire(), "$name: resource $at is taken");
        if ($name === 'flock') {
            check(is_file(lock_file($directory, $resource)), "the file's name is Symfony's for resource $at");
        }
        check_same($resource, (string) unserialize(serialize(new Key($resource))), "$name: $at");
    }
    unset($locks);
    foreach ($resources as $at => $resource) {
        check((new Lock(new Key($resource), $store))->acquire(), "$name: resource $at is free again");
    }
}
check(count(glob("$directory/sf.*")) === count($resources), 'the lock files lie in the directory, all of them');
$why = 'Argument #1 ($resource) must not be empty: give the lock a name';
check_same("Latch\Exception\InvalidArgumentException: Latch\Key::__construct(): $why", outcome(fn () => new Key('')), 'no resource');
check_same(
    "Latch\Exception\InvalidArgumentException: Latch\LockFactory::createLock(): $why",
    outcome(fn () => (new LockFactory(new InMemoryStore()))->createLock('')),
    'no resource'
);
echo "done\n";
--EXPECT--
done
