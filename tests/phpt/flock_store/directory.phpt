--TEST--
The directory is made if need be, and refused by Symfony's exception if that fails
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$before = what_is_open();
$say = function (callable $call) use ($directory) {
    echo str_replace($directory, 'DIRECTORY', outcome($call)), "\n";
};
$say(fn () => new FlockStore("$directory/made/for/you"));
check(is_dir("$directory/made/for/you"), 'made, with its parents');
$say(fn () => new FlockStore("$directory/made/for/you/"));
$say(fn () => new FlockStore("$directory/made/../made"));
$say(fn () => new FlockStore(null));
$say(fn () => new FlockStore());
touch("$directory/file");
$say(fn () => new FlockStore("$directory/file"));
$say(fn () => new FlockStore("$directory/file/below"));
$say(fn () => new FlockStore(''));
$say(fn () => new FlockStore("nul\0byte"));
$say(fn () => new FlockStore('/proc/no/such'));
check(str_contains(outcome(fn () => new FlockStore('/' . str_repeat('x/', 5000))), 'InvalidArgumentException'), 'too long');
symlink('nowhere', "$directory/dangling");
$say(fn () => new FlockStore("$directory/dangling"));
symlink('made', "$directory/link");
$lock = new Lock(new Key('a'), new FlockStore("$directory/link"));
$lock->acquire();
check(!(new Lock(new Key('a'), new FlockStore("$directory/made")))->acquire(), 'a link to a directory is that directory');
$lock->release();

/* Relative paths mean the same after chdir(). */
chdir($directory);
$store = new FlockStore('made');
chdir('/');
$lock = new Lock(new Key('b'), $store);
$lock->acquire();
check(!is_free("$directory/made", 'b'), 'in the directory that was meant');
unset($lock, $store);

/* Without the right to write, as another user. */
mkdir("$directory/unwritable", 0555);
if (posix_getuid() === 0) {
    $child = fork(function () use ($directory, $say) {
        posix_setgid(65534);
        posix_setuid(65534);
        $say(fn () => new FlockStore("$directory/unwritable"));
        $say(fn () => new FlockStore("$directory/unwritable/below"));
        return 0;
    });
    check_same('exit 0', $child->ending(), 'the ending');
    unset($child);
} else {
    $say(fn () => new FlockStore("$directory/unwritable"));
    $say(fn () => new FlockStore("$directory/unwritable/below"));
}
/* Gone after the store was made. */
mkdir("$directory/short");
$store = new FlockStore("$directory/short");
rmdir("$directory/short");
$lock = new Lock(new Key('a'), $store);
$say(fn () => $lock->acquire());
$say(fn () => $store->save(new Key('a')));
check(!$lock->isAcquired() && !$lock->isHeld(), 'nothing is taken');
mkdir("$directory/short");
check($lock->acquire(), 'and works when it is back');
unset($lock, $store);
echo "done\n";
--EXPECT--
Latch\Store\FlockStore
Latch\Store\FlockStore
Latch\Store\FlockStore
Latch\Store\FlockStore
Latch\Store\FlockStore
Latch\Exception\InvalidArgumentException: The FlockStore directory "DIRECTORY/file" is no directory, but a file.
Latch\Exception\InvalidArgumentException: The FlockStore directory "DIRECTORY/file/below" does not exists and cannot be created.
Latch\Exception\InvalidArgumentException: The FlockStore directory "" does not exists and cannot be created.
ValueError: Latch\Store\FlockStore::__construct(): Argument #1 ($lockPath) must not contain any null bytes
Latch\Exception\InvalidArgumentException: The FlockStore directory "/proc/no/such" does not exists and cannot be created.
Latch\Exception\InvalidArgumentException: The FlockStore directory "DIRECTORY/dangling" does not exists and cannot be created.
Latch\Exception\InvalidArgumentException: The FlockStore directory "DIRECTORY/unwritable" is not writable.
Latch\Exception\InvalidArgumentException: The FlockStore directory "DIRECTORY/unwritable/below" does not exists and cannot be created.
Latch\Exception\LockAcquiringException: Failed to acquire the "a" lock: the lock file "DIRECTORY/short/sf.a.ypeBEso.lock" cannot be opened: No such file or directory.
Latch\Exception\LockStorageException: Failed to store the "a" lock: the lock file "DIRECTORY/short/sf.a.ypeBEso.lock" cannot be opened: No such file or directory.
done
