--TEST--
latch list shows the holders of semaphores in Redis beside those of locks, as lines and as JSON
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = "--store={$server->dsn()}";
$list = fn (string ...$more) => latch_to_end('list', $store, ...$more);
/** Times and fencing tokens, which are not the same each time. */
$plain = fn (string $said) => preg_replace(['/\d{16}/', '/\t\d{4}-\d\d-\d\dT\S+\t[\d.]+\t/', '/\t[\d.]+\t-\t/'], ['FENCING', "\tTHEN\tN\t", "\tN\t-\t"], $said);
$host = gethostname();

$heavy = redis_semaphore($server, 5, 2);
check($heavy->acquire(), 'two of five');
$slot = latch_run_cat($store, '--slots=3', 's');
$lock = latch_run_cat($store, 'a lock');
$waiting = latch('run', $store, '--wait', '--slots=1', 's', '--', 'echo', 'next');
wait_until(fn () => permit_queue($server) === 1, 'it waits');
$script = realpath($_SERVER['SCRIPT_FILENAME']);
$lines = [
    "exclusive\t$host\t$lock->pid\tlatch run sh\tTHEN\tN\tFENCING\t0\ta lock\n",
    "semaphore 1/3, 3 in use\t$host\t$slot->pid\tlatch run sh\tTHEN\tN\t-\t1\ts\n",
    "semaphore 2/5, 3 in use\t$host\t" . getmypid() . "\t" . addcslashes($script, "\0..\37\\\177") . "\tTHEN\tN\t-\t1\ts\n",
];
$said = explode("\n", trim(substr($plain($list()), strlen('exit 0: '), -1)));
sort($said);
check_same(array_map(rtrim(...), $lines), $said, 'a line for each holder');

$json = json_decode(substr($list('--format=json'), strlen('exit 0: '), -1), true, 9, JSON_THROW_ON_ERROR);
$modes = array_column($json, 'mode', 'name');
ksort($modes);
check_same(['a lock' => 'exclusive', 's' => 'semaphore'], $modes, 'as JSON');
$found = array_column($json, null, 'name')['s'];
check_same([3, 2, 1], [$found['used'], $found['holderCount'], $found['waiters']], 'the semaphore as JSON');
$limits = array_column($found['holders'], 'limit', 'weight');
ksort($limits);
check_same([1 => 3, 2 => 5], $limits, 'its holders as JSON');

// holders on Symfony in PHP
$server->command('ZADD', '{theirs}:weight', 2, base64_encode(random_bytes(32)));
$server->command('ZADD', '{theirs}:time', time() + 100, $server->command('ZRANGE', '{theirs}:weight', 0, 0)[0]);
check(!str_contains($list(), 'theirs'), 'no foreign semaphores');
check(str_contains($said = $plain($list('--all')), "\nsemaphore 2/-, 2 in use\t-\t-\t-\t-\tN\t-\t0\ttheirs\n"), $said);
check_same('exit 75', explode(': ', latch_to_end('status', $store, 'theirs'))[0], 'status');

// a user that may not read semaphores: the locks are listed all the same, and it is no success
$server->setUser('shop', 'reset', 'on', '>SECRET', '~a?lock', '~latch:*:a?lock', '&*', '+@all');
$said = latch_to_end('list', "--store={$server->dsn('', 'shop:SECRET@')}");
check(preg_match("/^exit 69: exclusive\t[^\n]*\ta lock\n\|latch: .*NOPERM/s", $said) === 1, $said);
check(!str_contains($said, 'SECRET'), $said);

$heavy->release();
$slot->let_go()->ending();
check_same("exit 0: next\n|", $waiting->all(), 'the waiter');
$lock->let_go()->ending();
check_same('exit 0: |', $list(), 'nothing is held');
echo "done\n";
--EXPECT--
done
