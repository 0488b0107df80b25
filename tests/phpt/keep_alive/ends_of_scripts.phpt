--TEST--
A script ends with renewals in flight as it would without, and its locks are released
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$endings = [
    'return' => ['exit 0', fn () => 0],
    'exit' => ['exit 3', fn () => exit(3)],
    'exception' => ['exit 255', fn () => throw new RuntimeException('nobody catches this')],
    'fatal error' => ['exit 255', fn () => @trigger_error('the end', E_USER_ERROR)],
    'compile error' => ['exit 255', fn () => eval('class Broken { public abstract function broken() { } }')],
    'memory limit' => ['exit 255', function () {
        ini_set('memory_limit', '16M');
        str_repeat('x', 1 << 26);
    }],
    'in a callback' => ['exit 255', function () use ($server) {
        $lock = short_lock($server, 'lost')->keepAlive()->onLost(fn () => @trigger_error('the end', E_USER_ERROR));
        $lock->acquire();
        $server->command('DEL', 'lost');
        $lock->isAcquired();
        exit(99);
    }],
];
if (getenv('USE_ZEND_ALLOC') === '0') {
    unset($endings['memory limit']);
}

class Registry
{
    public static array $locks = [];
}

foreach ($endings as $name => [$ending, $end]) {
    foreach ([0.06, 300] as $ttl) { // renewed all the time, and never
        for ($times = 0; $times < 5; $times++) {
            $child = fork(function () use ($server, $ttl, $end) {
                for ($at = 0; $at < 20; $at++) {
                    Registry::$locks[$at] = short_lock($server, "r$at", $ttl)->keepAlive();
                    try {
                        Registry::$locks[$at]->acquire();
                    } catch (Latch\Exception\LockAcquiringException | Latch\Exception\LockExpiredException) {
                        // it may run out meanwhile, where the machine stands still
                    }
                }
                usleep(random_int(0, 30000));
                return $end();
            });
            check_same($ending, $child->ending(), "$name, $ttl: the ending");
            for ($at = 0; $at < 20; $at++) {
                wait_until(fn () => $server->lacks("r$at"), "$name, $ttl: r$at is released");
            }
        }
    }
}

/* When the script has ended there is nothing to be kept from going on: a loss is told, and nothing is thrown. */
$child = fork(function (ParentLine $parent) use ($server) {
    ini_set('latch.throw_on_lost', 1);
    $lock = short_lock($server)->keepAlive()->onLost(fn () => $parent->say('told'));
    check($lock->acquire(), 'acquired');
    register_shutdown_function(function () use ($server, $lock) {
        $server->command('DEL', 'r');
        wait_until(fn () => !$lock->isHeld(), 'it is lost');
    });
    return 0;
});
$child->hear_exactly('told');
check_same('exit 0', $child->ending(), 'lost when the script has ended');

/* When the server does not answer, the end is not held up beyond what a release may take. */
$proxy = new Latch\Tests\RedisProxy($server);
$begun = hrtime(true);
$child = fork(function (ParentLine $parent) use ($proxy) {
    $lock = new Latch\Lock(new Latch\Key('r'), new Latch\Store\RedisStore($proxy->dsn('?read_timeout=1')), 1.5);
    check($lock->keepAlive()->acquire(), 'acquired');
    $parent->say('held');
    $parent->hear_exactly('end');
    return 0;
});
$child->hear_exactly('held');
$proxy->set('drop');
$server->command('DEL', 'r');
usleep(700000); // and a renewal is on its way
$child->say('end');
check_same('exit 0', $child->ending(), 'the ending without an answer');
check((hrtime(true) - $begun) / 1e9 < PATIENCE, 'it ends in time');
echo "done\n";
--EXPECT--
done
