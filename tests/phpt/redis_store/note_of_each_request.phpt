--TEST--
RedisStore: what is noted of a holder is of its request, in a worker of PHP-FPM and of the built-in server
--SKIPIF--
<?php
if (getenv('LATCH_TEST_NO_FPM') === '1') {
    die('skip LATCH_TEST_NO_FPM=1: this PHP has no FPM');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';
require __DIR__ . '/../../utils/redis.inc';

$redis = new Latch\Tests\RedisServer();
foreach ([new Fpm(), new BuiltInServer()] as $server) {
    $tell = "\$store = new Latch\\Store\\RedisStore('{$redis->dsn()}');
        \$lock = new Lock(new Key('r'), \$store, 60);
        \$lock->acquire();
        [\$holder] = \$store->inspect(new Key('r'))['holders'];
        echo \$holder['script'] ?? 'none', \$holder['pid'] === getmypid() ? ' of this process' : '';";
    $server->script('one', $tell);
    $server->script('two', $tell);
    $server->script('named', "ini_set('latch.holder_name', 'GET /invoices');$tell");
    $server->script('silent', "ini_set('latch.holder_note', '0');$tell");
    foreach (['one', 'named', 'two', 'silent', 'one'] as $name) {
        $expected = match ($name) {
            'silent' => 'none',
            'named' => 'GET /invoices of this process',
            default => "$server->directory/$name.php of this process",
        };
        check_same($expected, $server->ask($name), $server::class . ": $name");
    }
    $server->stop();
}
echo "done\n";
--EXPECT--
done
