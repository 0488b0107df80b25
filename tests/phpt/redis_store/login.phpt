--TEST--
RedisStore: who may not log in, or may not do what a lock takes, is told so, without the password
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\RedisServer;

/** What is said when the lock cannot be acquired, with all traces. */
function refusal(RedisServer $server, #[SensitiveParameter] string $rest, #[SensitiveParameter] string $login): string
{
    $lock = redis_lock($server, $rest, $login);
    try {
        $acquired = var_export($lock->acquire(), true);
        check_usable($server, $lock, 'logged in');
        return $acquired;
    } catch (Exception $e) {
        check(!str_contains($e . json_encode($e->getTrace()), 'SECRET'), "no password is shown: $e");
        check(!$lock->isHeld(), 'not held');
        // The rest of the server's text differs between versions.
        return preg_replace(['/127\.0\.0\.1:\d+/', '/\(WRONGPASS [^)]*\)/'], ['ADDRESS', '(WRONGPASS)'], messages($e));
    }
}

$server = new RedisServer(['requirepass' => 'SECRET&?#/@']);
$password = rawurlencode('SECRET&?#/@');
echo 'none: ', refusal($server, '', ''), "\n";
echo 'wrong: ', refusal($server, '', ':SECRET2@'), "\n";
echo 'right: ', refusal($server, '', ":$password@"), "\n";
echo 'alone: ', refusal($server, '', "$password@"), "\n";
echo 'default user: ', refusal($server, '', "default:$password@"), "\n";
echo 'option: ', refusal($server, "?auth=$password", ''), "\n";
echo 'options: ', refusal($server, "?auth[]=default&auth[]=$password", ''), "\n";
echo 'no such database: ', refusal($server, '/99', ":$password@"), "\n";

$server->setUser('shop', 'on', '>SECRET3', '~*', '&*', '+@all');
echo 'another user: ', refusal($server, '', 'shop:SECRET3@'), "\n";
echo 'no such user: ', refusal($server, '', 'shopper:SECRET3@'), "\n";

/* What a user may do can change while his connection lives, and he a lock. */
foreach ([['-evalsha', '-eval'], ['-zadd'], ['-zscore'], ['-zrem'], ['-type'], ['-time'], ['-hset'], ['resetkeys', '~other']]
    as $rules) {
    $case = implode(' ', $rules);
    $lock = redis_lock($server, '', 'shop:SECRET3@');
    foreach ([false, true] as $held) {
        if ($held) {
            check($lock->acquire(), "$case: acquired before");
        }
        $server->command('ACL', 'SETUSER', 'shop', ...$rules);
        $outcomes = [];
        foreach (['acquire', 'acquireRead', 'refresh', 'isAcquired', 'release'] as $method) {
            $outcomes[] = attempt(fn () => $lock->$method(...($method === 'refresh' ? [20.0] : [])), "$case: $method()");
        }
        check(in_array('throws', $outcomes, true), "$case: something is refused");
        $server->command('ACL', 'SETUSER', 'shop', 'resetkeys', '~*', '+@all');
        check_usable($server, $lock, $held ? "$case, held" : $case);
    }
}
echo "done\n";
--EXPECT--
none: LockAcquiringException: Failed to acquire the "r" lock: Redis at ADDRESS answered: NOAUTH Authentication required. <- LockStorageException: Failed to store the "r" lock: Redis at ADDRESS answered: NOAUTH Authentication required.
wrong: LockAcquiringException: Failed to acquire the "r" lock: cannot connect to Redis at ADDRESS: the server refused the user or the password (WRONGPASS). <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: the server refused the user or the password (WRONGPASS).
right: true
alone: true
default user: true
option: true
options: true
no such database: LockAcquiringException: Failed to acquire the "r" lock: cannot connect to Redis at ADDRESS: the server refused the database (ERR DB index is out of range). <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: the server refused the database (ERR DB index is out of range).
another user: true
no such user: LockAcquiringException: Failed to acquire the "r" lock: cannot connect to Redis at ADDRESS: the server refused the user or the password (WRONGPASS). <- LockStorageException: Failed to store the "r" lock: cannot connect to Redis at ADDRESS: the server refused the user or the password (WRONGPASS).
done
