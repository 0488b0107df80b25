--TEST--
SharedMemoryStore: an argument out of range, or a file that cannot be used, is an exception that says what to do
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\{SharedMemoryStore, StoreFactory};

$directory = temporary_directory();
$path = "$directory/locks";
$argument = 'Latch\Exception\InvalidArgumentException: Latch\Store\SharedMemoryStore::__construct(): Argument ';
$made = fn (mixed ...$arguments): string => outcome(fn () => new SharedMemoryStore(...$arguments));

foreach ([0, -1, 1 << 31, 16777217, PHP_INT_MAX, PHP_INT_MIN, (1 << 32) + 100] as $capacity) {
    check_same($argument . '#2 ($capacity) must be a number of locks from 1 to 16777216', $made($path, $capacity), "capacity $capacity");
}
foreach ([01000, 0477, 0, -1, 0700, 0060, 600, (1 << 32) + 0600] as $mode) {
    check_same(
        $argument . '#3 ($mode) must be a mode from 0600 to 0666 (octal) that lets the file\'s owner read and write',
        $made($path, 100, $mode),
        sprintf('mode %o', $mode)
    );
}
foreach (['locks', './locks', '', 'shm:///tmp/locks', 'shm://user:PASSWORD@host'] as $relative) {
    check_same($argument . '#1 ($path) must be null or an absolute path, such as "/dev/shm/shop/locks"', $made($relative), $relative);
}
check_same($argument . '#1 ($path) must have less than 4096 bytes', $made('/' . str_repeat('x', 4095)), 'long');
echo $made("$path\0x"), "\n";
check_same([], glob("$directory/*"), 'nothing is made of wrong arguments');

/* Files. */
$storage = 'Latch\Exception\LockStorageException: the file ';
file_put_contents("$directory/text", 'text');
symlink($path, "$directory/link");
posix_mkfifo("$directory/fifo", 0600);
foreach ([
    $directory => 'cannot be opened: Is a directory',
    "$directory/none/locks" => 'cannot be opened: No such file or directory; its directory is missing',
    "$directory/text" => 'is not one of Latch\'s shared memory; name another one, or remove it',
    "$directory/text/locks" => 'cannot be opened: Not a directory',
    "$directory/link" => 'is a symbolic link; name its target',
    "$directory/fifo" => 'is not a regular file',
    '/dev/null' => 'is not a regular file',
] as $file => $problem) {
    check_same("$storage\"$file\" $problem", $made($file), $file);
}
check_same('text', file_get_contents("$directory/text"), 'another file is left as it is');
check(!file_exists($path), 'a link is not followed');

/* Least and most; the file keeps what it was made with. */
$store = new SharedMemoryStore($path, 1, 0660);
check_same('0660', sprintf('%04o', fileperms($path) & 07777), 'the mode, whatever the umask');
$size = filesize($path);
check_same(SharedMemoryStore::class, $made($path, 16777216, 0600), 'another capacity and mode');
clearstatcache();
check_same([$size, '0660'], [filesize($path), sprintf('%04o', fileperms($path) & 07777)], 'the file is what it was');

/* A full file names the cure. */
$locks = [];
do {
    $locks[] = $lock = new Lock(new Key('r' . count($locks)), $store);
    $said = outcome(fn () => $lock->acquire());
} while ($said === 'true' && count($locks) < 100000);
$number = count($locks) - 1;
check($number >= 1 && str_starts_with($said, 'Latch\Exception\LockAcquiringException: Failed to acquire the "r' . $number . '" lock: '), $said);
check(str_contains($said, "all $number locks that the file \"$path\" has room for are in use") && str_contains($said, 'larger capacity'), $said);
$locks[0]->release();
check($lock->acquire() && $lock->isHeld(), 'one is free again');
unset($locks, $lock);
check_same([], $store->listHeld(), 'all are free again');

/* The default: this user's own. */
$default = new SharedMemoryStore();
check_same(SharedMemoryStore::class, get_class(StoreFactory::createStore('shm')), 'by its DSN');
$lock = new Lock(new Key($directory), $default);
check($lock->acquire() && !(new Lock(new Key($directory), StoreFactory::createStore('shm')))->acquire(), 'the same locks');
check($default->inspect(new Key($directory))['holders'][0]['pid'] === getmypid(), 'mine');
$lock->release();

echo outcome(fn () => $store->__construct()), "\n";
echo outcome(fn () => clone $store), "\n";
echo outcome(fn () => serialize($store)), "\n";
var_dump($store);
$parameter = (new ReflectionMethod(SharedMemoryStore::class, '__construct'))->getParameters()[0];
check_same('SensitiveParameter', $parameter->getAttributes()[0]->getName(), 'a DSN in its place is not told');
echo "done\n";
--EXPECTF--
ValueError: Latch\Store\SharedMemoryStore::__construct(): Argument #1 ($path) must not contain any null bytes
Error: Latch\Store\SharedMemoryStore is constructed already
Error: Trying to clone an uncloneable object of class Latch\Store\SharedMemoryStore
Exception: Serialization of 'Latch\Store\SharedMemoryStore' is not allowed
object(Latch\Store\SharedMemoryStore)#%d (0) {
}
done
