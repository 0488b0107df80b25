--TEST--
RedisStore: scripts that come and go leave no lock behind, however they end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$directory = temporary_directory();
$dsn = var_export($server->dsn(), true);
$endings = [
    '',
    'exit;',
    'exit(7);',
    'throw new Exception();',
    'trigger_error("the end", E_USER_ERROR);',
    'unset($lock);',
    '$lock->itself = $lock;', // no such property: an Error
    '$cycle = [$lock]; $cycle[] = &$cycle; unset($lock);',
    'register_shutdown_function(fn () => exit);',
    '$GLOBALS["store"] = $store; $store = null;',
];
foreach ($endings as $at => $end) {
    file_put_contents("$directory/$at.php", "<?php
        \$store = new Latch\\Store\\RedisStore($dsn);
        \$lock = new Latch\\Lock(new Latch\\Key('r'), \$store, 100);
        fwrite(STDOUT, var_export(\$lock->acquire(), true));
        $end");
}
$times = getenv('LATCH_VALGRIND') ? 20 : 200;
for ($time = 0; $time < $times; $time++) {
    $at = $time % count($endings);
    $process = proc_open(php_command("$directory/$at.php"), [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes);
    $said = stream_get_contents($pipes[1]);
    proc_close($process);
    check_same('true', $said, "script $time ($endings[$at])");
}
wait_until(fn () => $server->lacks('r'), 'the last one is released');
check_same([], $server->clients(), 'connections');
echo "done\n";
--EXPECT--
done
