--TEST--
synchronized() says when its lock did not last as long as the callback, and loses no result
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\{Key, Lock};
use Latch\Exception\{LockExpiredException, LockReleasingException};
use Latch\Store\{FlockStore, InMemoryStore, NullStore, RedisStore};

/** How synchronized() ends: "result", or the exceptions and their results. */
function ending(callable $call): string
{
    try {
        return json_encode($call());
    } catch (Throwable $e) {
        for ($said = []; $e !== null; $e = $e->getPrevious()) {
            $said[] = (new ReflectionClass($e))->getShortName()
                . ($e instanceof LockExpiredException ? ' with ' . json_encode($e->getResult()) : '');
        }
        return implode(' after ', $said);
    }
}

/**
 * The same of what $attempt does with a short TTL: with a longer one whenever this machine is too slow to
 * get the lock within that.
 */
function ending_in_time(callable $attempt): string
{
    for ($ttl = 0.05;; $ttl *= 2) {
        $ending = $attempt($ttl);
        if ((!str_starts_with($ending, 'LockAcquiringException') && $ending !== 'exit 255') || $ttl > PATIENCE) {
            return $ending;
        }
    }
}

$server = new Latch\Tests\RedisServer();
$directory = temporary_directory();
$redis = new RedisStore($server->dsn());
$php = new RecordingStore($directory);
$lost = 'LockExpiredException with "done"';

foreach (['Redis' => $redis, 'PHP' => $php] as $name => $store) {
    $make = fn (float $ttl) => new Lock(new Key('r'), $store, $ttl);
    $run_out = fn (Lock $lock) => wait_until(fn () => !$lock->isHeld(), 'the lock runs out');
    $free = fn () => $make(60.0)->acquire();

    foreach ([
        'in time' => ['"done"', fn (Lock $lock) => 'done', 60.0],
        'too long' => [$lost, function (Lock $lock) use ($run_out) {
            $run_out($lock);
            return 'done';
        }],
        'no result' => ['LockExpiredException with null', fn (Lock $lock) => $run_out($lock)],
        'an array' => ['LockExpiredException with [1,{"a":null}]', function (Lock $lock) use ($run_out) {
            $run_out($lock);
            return [1, ['a' => null]];
        }],
        'by reference' => ['LockExpiredException with 5', function &(Lock $lock) use ($run_out) {
            static $five = 5;
            $run_out($lock);
            return $five;
        }],
        'thrown' => ['DomainException', function (Lock $lock) use ($run_out) {
            $run_out($lock);
            throw new DomainException();
        }],
        'asked' => [$lost, function (Lock $lock) use ($run_out) {
            $run_out($lock);
            $lock->isAcquired();
            return 'done';
        }],
        'refreshed in time' => ['"done"', function (Lock $lock) {
            $lock->refresh(60);
            return 'done';
        }, 30.0],
        'released in time' => ['"done"', function (Lock $lock) {
            $lock->release();
            return 'done';
        }, 60.0],
        'released late' => [$lost, function (Lock $lock) use ($run_out) {
            $run_out($lock);
            $lock->release();
            return 'done';
        }],
        'acquired anew' => [$lost, function (Lock $lock) use ($run_out) {
            $run_out($lock);
            $lock->acquire();
            $lock->refresh(60);
            return 'done';
        }],
        'released and acquired' => ['"done"', function (Lock $lock) {
            $lock->release();
            $lock->acquire();
            return 'done';
        }, 60.0],
        'inside another' => ['LockExpiredException with "inner"', function (Lock $lock) use ($run_out) {
            return $lock->synchronized(function () use ($lock, $run_out) {
                $run_out($lock);
                return 'inner';
            });
        }],
        'after another' => [$lost, function (Lock $lock) use ($run_out) {
            $lock->synchronized(fn () => null);
            $run_out($lock);
            return 'done';
        }],
        'around another' => [$lost, function (Lock $lock) use ($run_out) {
            $run_out($lock);
            $lock->synchronized(fn () => $lock->refresh(60));
            return 'done';
        }],
        'exited' => ['exit 3', function (Lock $lock) use ($run_out) {
            $run_out($lock);
            exit(3);
        }],
    ] as $case => $row) {
        [$expected, $callback] = $row;
        $actual = ending_in_time(function (float $ttl) use ($row, $case, $callback, $make, &$lock) {
            $lock = $make($row[2] ?? $ttl);
            $call = fn () => $lock->synchronized(fn () => $callback($lock));
            return $case === 'exited' ? fork($call)->ending() : ending($call);
        });
        check_same($expected, $actual, "$name, $case");
        check(!$lock->isHeld() && !$lock->isAcquired(), "$name, $case: not held then");
        unset($lock);
        if (!$free()) {
            echo "BROKEN: $name, $case: not free then\n";
        }
        array_map('unlink', array_filter(glob("$directory/*"), 'is_file'));
    }

    /* A lock that was held before is left as it is; that it is lost is told all the same. */
    $lock = $make(60.0);
    $lock->acquire();
    check_same('"done"', ending(fn () => $lock->synchronized(fn () => 'done')), "$name, held before");
    check($lock->isHeld(), "$name, held before and after");
    check_same($lost, ending_in_time(fn (float $ttl) => ending(fn () => $lock->synchronized(
        function () use ($lock, $run_out, $ttl) {
            $lock->refresh($ttl);
            $run_out($lock);
            return 'done';
        },
    ))), "$name, held before and lost");
    unset($lock);
    array_map('unlink', array_filter(glob("$directory/*"), 'is_file'));
}

/* The server has forgotten it. */
$lock = redis_lock($server);
check_same($lost, ending(fn () => $lock->synchronized(function () use ($server, $lock) {
    $server->command('DEL', 'r');
    return $lock->isAcquired() ? 'BROKEN' : 'done';
})), 'found gone');
check_same($lost, ending(fn () => $lock->synchronized(function () use ($server, $lock) {
    $server->command('DEL', 'r');
    try {
        $lock->refresh(10);
    } catch (Latch\Exception\LockConflictedException) {
        return 'done';
    }
})), 'not to be refreshed');
/* Kept alive, and lost all the same. */
$kept = new Lock(new Key('r'), $redis, 1.0);
$kept->keepAlive();
check_same($lost, ending(fn () => $kept->synchronized(function () use ($server, $kept) {
    $server->command('DEL', 'r');
    wait_until(fn () => !$kept->isHeld(), 'the renewal finds it gone');
    return 'done';
})), 'kept');
check_same('"done"', ending(fn () => $kept->synchronized(fn () => 'done')), 'kept, next time');

/* It is counted, once. */
check_same('1', ending_in_time(function (float $ttl) use ($redis) {
    $before = Lock::getStatistics()['lost'];
    $lock = new Lock(new Key('r'), $redis, $ttl);
    $ending = ending(fn () => $lock->synchronized(fn () => wait_until(fn () => !$lock->isHeld(), 'it runs out')));
    $counted = Lock::getStatistics()['lost'] - $before;
    return $ending === 'LockExpiredException with null' ? (string) $counted : $ending;
}), 'counted');

/* The release fails, too: it comes on top, and the result is found behind it. */
$php->before = function (string $call) {
    if ($call === 'delete') {
        throw new RuntimeException('delete failed');
    }
};
$message = '';
check_same("LockReleasingException after RuntimeException after $lost", ending_in_time(
    function (float $ttl) use ($php, &$message) {
        $lock = new Lock(new Key('r'), $php, $ttl, false);
        return ending(function () use ($lock, &$message) {
            try {
                $lock->synchronized(function () use ($lock) {
                    wait_until(fn () => !$lock->isHeld(), 'it runs out');
                    return 'done';
                });
            } catch (LockReleasingException $e) {
                $message = $e->getPrevious()->getPrevious()->getMessage();
                throw $e;
            }
        });
    },
), 'a release that fails');
echo "$message\n";
$php->before = null;

/* Where locks do not expire nothing is lost, and nothing is held in a NullStore. A child takes a copy along. */
foreach ([new FlockStore($directory), new InMemoryStore(), new NullStore()] as $store) {
    foreach ([true, false] as $auto_release) {
        $lock = new Lock(new Key('s'), $store, 0.001, $auto_release);
        check_same('"done"', ending(fn () => $lock->synchronized(function () {
            check_same('exit 0', fork(fn () => 0)->ending(), 'a child');
            return 'done';
        })), get_class($store));
    }
}
$lock = new Lock(new Key('s'), $redis, 60, false);
check_same('"done"', ending(fn () => $lock->synchronized(function () {
    check_same('exit 0', fork(fn () => 0)->ending(), 'a child');
    return 'done';
})), 'Redis, with a child');

/* The result lives, and ends, with the exception. */
class Witness
{
    public ?Throwable $cycle = null;

    public function __destruct()
    {
        echo "the result ends\n";
    }
}
foreach (['caught', 'not kept', 'in a cycle'] as $how) {
    $e = null;
    ending_in_time(function (float $ttl) use ($redis, &$e) {
        $lock = new Lock(new Key('r'), $redis, $ttl);
        return ending(function () use ($lock, &$e) {
            try {
                $lock->synchronized(function () use ($lock) {
                    wait_until(fn () => !$lock->isHeld(), 'it runs out');
                    return new Witness();
                });
            } catch (LockExpiredException $e) {
            }
        });
    });
    if ($e !== null) {
        echo "$how\n";
        if ($how === 'in a cycle') {
            $e->getResult()->cycle = $e;
        }
        if ($how !== 'not kept') {
            check($e->getResult() instanceof Witness, $how);
        }
        unset($e);
        gc_collect_cycles();
    }
}

/* Others have none; whatever was done to it, asking does not crash. */
$e = new LockExpiredException('mine', 5);
check_same([null, 'mine', 5], [$e->getResult(), $e->getMessage(), $e->getCode()], 'a plain one');
$properties = @new ArrayObject($e); // deprecated since 8.5
unset($properties["\0" . LockExpiredException::class . "\0result"]);
check_same(null, $e->getResult(), 'broken open');
$walked = new LockExpiredException();
array_walk($walked, function (&$value) {});
check_same(null, $walked->getResult(), 'walked');
echo "done\n";
--EXPECT--
The "r" lock was lost before the callback of synchronized() returned, so that another holder may have had it meanwhile; getResult() has what the callback returned.
caught
the result ends
not kept
the result ends
in a cycle
the result ends
done
