--TEST--
What a Lock throws says why, behind Symfony's words, and no password; a renewal of what is not held has words, too
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, RedisStore};

$directory = temporary_directory();
$server = new Latch\Tests\RedisServer(['requirepass' => 'open-sesame']);
$lock = redis_lock($server);
$say = function (callable $call) use ($directory) {
    try {
        $call();
        echo "nothing is thrown\n";
    } catch (Throwable $e) {
        $said = preg_replace('/127\.0\.0\.1:\d+/', 'ADDRESS', str_replace($directory, 'DIRECTORY', messages($e)));
        check(!str_contains($said, 'open-sesame') && !str_contains((string) $e, 'open-sesame'), 'no password');
        echo $said, "\n";
    }
};

/* Renewed though it is not held: never acquired, run out, taken away. */
$say(fn () => $lock->refresh(10));
$lock->acquire();
$lock->refresh(0.5);
wait_until(fn () => holders($server) === 'nobody', 'it runs out');
$say(fn () => $lock->refresh(10));
$lock->acquire();
$server->command('DEL', 'r');
$other = redis_lock($server);
$other->acquire();
$say(fn () => $lock->refresh(10));
$other->release();

/* The server is away. */
$lock->acquire();
$server->stop();
$say(fn () => $lock->refresh(10));
$say(fn () => $lock->release());
$say(fn () => $lock->acquire());
$say(fn () => $lock->acquireRead());
$say(fn () => $lock->synchronized(fn () => 1));
$say(function () use (&$lock) {
    $lock = null;
});

/* Of a resource that has what messages are made of. */
$gone = new FlockStore($directory);
rmdir($directory);
$say(fn () => (new Lock(new Key('a" lock: %s'), $gone))->acquire());

/* Of others' exceptions nothing is repeated: who knows what is in them. */
$php = new RecordingStore(sys_get_temp_dir());
$php->before = fn () => throw new RuntimeException('Failed to store the "b" lock: its words');
$say(fn () => (new Lock(new Key('b'), $php))->acquire());
echo "done\n";
--EXPECT--
LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
LockConflictedException: The "r" lock cannot be renewed: it is not held, or not any more; acquire it anew.
LockAcquiringException: Failed to define an expiration for the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
LockReleasingException: Failed to release the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
LockAcquiringException: Failed to acquire the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
LockAcquiringException: Failed to acquire the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
LockAcquiringException: Failed to acquire the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
LockReleasingException: Failed to release the "r" lock: cannot connect to Redis at ADDRESS: Connection refused. <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: Connection refused.
LockAcquiringException: Failed to acquire the "a" lock: %s" lock: the lock file "DIRECTORY/sf.a-lock-s.gDke1E5.lock" cannot be opened: No such file or directory. <- LockStorageException: Failed to store the "a" lock: %s" lock: the lock file "DIRECTORY/sf.a-lock-s.gDke1E5.lock" cannot be opened: No such file or directory.
LockAcquiringException: Failed to acquire the "b" lock. <- RuntimeException: Failed to store the "b" lock: its words
done
