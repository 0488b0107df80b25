--TEST--
RedisStore: after every fault no two hold the lock, nobody thinks that he holds it, and all goes on
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\{RedisProxy, RedisServer};

$server = new RedisServer();
$proxy = new RedisProxy($server);

/* Each is ended by what it returns. */
$faults = [
    'restart' => function () use ($server) {
        $server->restart();
    },
    'gone' => function () use ($server) {
        $server->stop();
        return fn () => $server->start();
    },
    'scripts flushed' => function () use ($server) {
        $server->command('SCRIPT', 'FLUSH');
    },
    'all flushed' => function () use ($server) {
        $server->command('FLUSHALL');
    },
    'connections killed' => function () use ($server) {
        $server->command('CLIENT', 'KILL', 'TYPE', 'normal');
    },
    'paused' => function () use ($server) {
        $server->command('CLIENT', 'PAUSE', 100, ...($server->isBefore('6.2') ? [] : ['WRITE']));
    },
    'out of memory' => function () use ($server) {
        $server->command('CONFIG', 'SET', 'maxmemory', '1');
        return fn () => $server->command('CONFIG', 'SET', 'maxmemory', '0');
    },
    'read only' => function () use ($server) {
        $server->command('REPLICAOF', '127.0.0.1', '1');
        return fn () => $server->command('REPLICAOF', 'NO', 'ONE');
    },
];
foreach (['lose', 'drop', 'cut', 'hang', 'garbage', 'trickle'] as $mode) {
    foreach (['', ' EVAL'] as $text) {
        $faults["proxy: $mode$text"] = function () use ($proxy, $mode, $text) {
            $proxy->set($mode, trim($text));
            return function () use ($proxy, $mode) {
                if (in_array($mode, ['lose', 'drop', 'cut'], true)) {
                    check_same('pass', $proxy->mode(), "the proxy came to $mode");
                }
                $proxy->set('pass');
            };
        };
    }
}

$calls = [
    'acquire' => fn ($lock) => $lock->acquire(),
    'acquire and wait' => fn ($lock) => $lock->acquire(true, 1.0),
    'acquireRead' => fn ($lock) => $lock->acquireRead(),
    'refresh' => fn ($lock) => $lock->refresh(100),
    'isAcquired' => fn ($lock) => $lock->isAcquired(),
    'release' => fn ($lock) => $lock->release(),
    'synchronized' => fn ($lock) => $lock->synchronized(fn () => 'called'),
];
$befores = ['free' => null, 'held' => 'acquire', 'shared' => 'acquireRead'];

/* A read time-out that is short is too short now and then on a machine that is busy. */
$until = fn (callable $call, string $what) => wait_until(fn () => attempt($call, $what) === true, $what);

foreach ($faults as $fault => $strike) {
    /* Where nothing is to hang it is an error of the machine's that takes long. */
    $hangs = str_starts_with($fault, 'proxy: hang');
    $rest = $hangs ? '?read_timeout=0.4' : '?read_timeout=20';
    foreach ($befores as $state => $before) {
        foreach ($calls as $name => $call) {
            $case = "$fault, $state, $name";
            $lock = redis_lock($proxy, $rest);
            /* The connection is there already, or comes to be under the fault. */
            $until(fn () => $lock->acquire(true, PATIENCE), "$case: acquired before");
            attempt(fn () => $lock->release(), $case);
            if ($before !== null) {
                $until(fn () => $lock->$before(), "$case: $before() before");
            }
            $end = $strike();
            try {
                $outcome = attempt(fn () => $call($lock), $case);
                $refusal = '';
            } catch (Latch\Exception\ExceptionInterface $e) {
                $outcome = 'another exception';
                $refusal = messages($e);
            }
            check($outcome !== 'another exception', "$case: $refusal");
            $held = $lock->isHeld();
            if ($end !== null) {
                $end();
            }
            if ($outcome === true) {
                check($held, "$case: what was acquired is held");
            }
            $forgotten = in_array($fault, ['restart', 'gone', 'all flushed'], true);
            if ($held && !$forgotten) {
                check(holders($server) !== 'nobody', "$case: what is held is held on the server");
            }
            if ($outcome === 'throws' && $before === null) {
                check(!$held, "$case: what could not be acquired is not held");
            }
            check_usable($server, $lock, $case, $forgotten);
            unset($lock);
        }

        /* What a destructor could not give back is given back later. */
        $case = "$fault, $state, destructor";
        $lock = redis_lock($proxy, $rest);
        $until(fn () => $lock->{$before ?? 'acquire'}(), "$case: acquired before");
        $end = $strike();
        attempt(function () use (&$lock) {
            $lock = null;
        }, $case);
        if ($end !== null && !str_starts_with($fault, 'proxy')) {
            $end();
        }
        $lock = redis_lock($proxy, $rest);
        attempt(fn () => $lock->isAcquired(), $case);
        attempt(fn () => $lock->acquire(), $case);
        $proxy->set('pass');
        check_usable($server, $lock, $case);
        unset($lock);
    }
}
echo "done\n";
--EXPECT--
done
