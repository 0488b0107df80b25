--TEST--
latch run, status, list and release on locks in Laravel's layout
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$store = '--store=' . str_replace('redis:', 'redis+string:', $server->dsn('?prefix=app_'));
$status = fn () => latch_to_end('status', $store, 'r');
$list = fn (string ...$more) => latch_to_end('list', $store, ...$more);

check_same("exit 0: free\n|", $status(), 'never locked');
check_same('exit 0: |', $list(), 'nothing is held');

// a job of Laravel's
$server->command('SET', 'app_r', 'owner', 'EX', 60, 'NX');
check_same(1, preg_match('~^exit 75: held, exclusive~', $status()), 'held by a job');
check_same('exit 0: |', $list(), 'which is not listed');
check_same(1, preg_match('~^exit 75: ~', latch_to_end('run', $store, 'r', '--', 'echo', 'ran')), 'excludes a command');
check_same(1, preg_match('~^exit 0: "r" is held~', latch_to_end('release', '--force', '--yes', $store, 'r')), 'taken away');
check_same(0, $server->command('EXISTS', 'app_r'), 'gone');

// a command
$run = latch_run_cat($store, 'r');
check_same(44, $server->command('STRLEN', 'app_r'), 'a string');
check_same(null, $server->command('SET', 'app_r', 'owner', 'EX', 60, 'NX'), 'excludes a job');
check($server->command('PTTL', 'app_r') > 0, 'for a time');
check(str_contains($status(), "$run->pid on " . gethostname()), 'its holder');
check(str_contains($list(), "\tr\n"), 'listed');
check_same(1, count(json_decode(substr($list('--format=json'), strlen('exit 0: '), -1), true, 9, JSON_THROW_ON_ERROR)), 'as JSON');
check(str_contains(latch_to_end('list', '--all', $store), '--all'), '--all is for the other layout');
check_same('exit 0', $run->let_go()->ending(), 'ended');
check_same(0, $server->command('EXISTS', 'app_r'), 'released');
?>
DONE
--EXPECT--
DONE
