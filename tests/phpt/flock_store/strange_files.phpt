--TEST--
What is no lock file in the lock's place is a clear exception, and left alone
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$outside = temporary_directory();
$store = new FlockStore($directory);
file_put_contents("$outside/precious", 'precious');
$things = [
    'symbolic link' => fn ($path) => symlink("$outside/precious", $path),
    'dangling link' => fn ($path) => symlink("$outside/new", $path),
    'link to itself' => fn ($path) => symlink($path, $path),
    'directory' => fn ($path) => mkdir($path),
    'FIFO' => fn ($path) => posix_mkfifo($path, 0666),
    'socket' => fn ($path) => fclose(stream_socket_server("unix://$path")),
    'link to a device' => fn ($path) => symlink('/dev/null', $path),
];
$first = true;
foreach ($things as $thing => $make) {
    $make($path = lock_file($directory, $thing));
    for ($round = 0; $round < 2; $round++) {
        $before = what_is_open();
        foreach ([
            'acquire' => fn ($lock) => $lock->acquire(),
            'acquire and wait' => fn ($lock) => $lock->acquire(true),
            'acquire with timeout' => fn ($lock) => $lock->acquire(true, 0.01),
            'acquireRead' => fn ($lock) => $lock->acquireRead(),
            'synchronized' => fn ($lock) => $lock->synchronized(fn () => check(false, 'called')),
        ] as $name => $call) {
            $lock = new Lock(new Key($thing), $store);
            try {
                $call($lock);
                echo "BROKEN: $thing, $name: no exception\n";
            } catch (Latch\Exception\LockAcquiringException $e) {
                $previous = $e->getPrevious();
                if ($round === 0 && $name === 'acquire') {
                    echo str_replace($directory, 'DIRECTORY', "$thing: {$e->getMessage()}\n  "
                        . get_class($previous) . ": {$previous->getMessage()}\n");
                }
            }
            check(!$lock->isAcquired() && !$lock->isHeld(), "$thing, $name: nothing is taken");
            $lock->release();
        }
        foreach (['save', 'saveRead', 'waitAndSave'] as $method) {
            check(str_starts_with(outcome(fn () => $store->$method(new Key($thing))), 'Latch\Exception\LockStorageException'),
                "$thing, $method");
        }
        unset($lock, $e, $previous, $call);
        if ($round === 1) {
            check_same($before, what_is_open(), "$thing: nothing is left open");
        }
    }
    check(is_link($path) || file_exists($path), "$thing: left alone");
    is_dir($path) && !is_link($path) ? rmdir($path) : unlink($path);
    check((new Lock(new Key($thing), $store))->acquire(), "$thing: works when it is gone");
}
check_same('precious', file_get_contents("$outside/precious"), 'the file behind the link');
check_same(["$outside/precious"], glob("$outside/*"), 'nothing was made behind the dangling link');
echo "done\n";
--EXPECT--
symbolic link: Failed to acquire the "symbolic link" lock: the lock file "DIRECTORY/sf.symbolic-link.WgqeGV0.lock" is a symbolic link; remove it.
  Latch\Exception\LockStorageException: Failed to store the "symbolic link" lock: the lock file "DIRECTORY/sf.symbolic-link.WgqeGV0.lock" is a symbolic link; remove it.
dangling link: Failed to acquire the "dangling link" lock: the lock file "DIRECTORY/sf.dangling-link.uVOM2CB.lock" is a symbolic link; remove it.
  Latch\Exception\LockStorageException: Failed to store the "dangling link" lock: the lock file "DIRECTORY/sf.dangling-link.uVOM2CB.lock" is a symbolic link; remove it.
link to itself: Failed to acquire the "link to itself" lock: the lock file "DIRECTORY/sf.link-to-itself.Lf72bhS.lock" is a symbolic link; remove it.
  Latch\Exception\LockStorageException: Failed to store the "link to itself" lock: the lock file "DIRECTORY/sf.link-to-itself.Lf72bhS.lock" is a symbolic link; remove it.
directory: Failed to acquire the "directory" lock: the lock file "DIRECTORY/sf.directory.MzF4eI6.lock" is not a regular file; remove it.
  Latch\Exception\LockStorageException: Failed to store the "directory" lock: the lock file "DIRECTORY/sf.directory.MzF4eI6.lock" is not a regular file; remove it.
FIFO: Failed to acquire the "FIFO" lock: the lock file "DIRECTORY/sf.FIFO.ds7F__Y.lock" is not a regular file; remove it.
  Latch\Exception\LockStorageException: Failed to store the "FIFO" lock: the lock file "DIRECTORY/sf.FIFO.ds7F__Y.lock" is not a regular file; remove it.
socket: Failed to acquire the "socket" lock: the lock file "DIRECTORY/sf.socket.R91Wwse.lock" cannot be opened: No such device or address.
  Latch\Exception\LockStorageException: Failed to store the "socket" lock: the lock file "DIRECTORY/sf.socket.R91Wwse.lock" cannot be opened: No such device or address.
link to a device: Failed to acquire the "link to a device" lock: the lock file "DIRECTORY/sf.link-to-a-device.+DraKAx.lock" is a symbolic link; remove it.
  Latch\Exception\LockStorageException: Failed to store the "link to a device" lock: the lock file "DIRECTORY/sf.link-to-a-device.+DraKAx.lock" is a symbolic link; remove it.
done
