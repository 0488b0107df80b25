--TEST--
Drop-in mode: a script may preload files that declare Latch's classes
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip PHP starts many times here');
}
if (!extension_loaded('Zend OPcache') && !is_file(PHP_EXTENSION_DIR . '/opcache.so')) {
    die('skip this PHP has no opcache');
}
if (getenv('LATCH_TEST_NO_FPM') === '1') {
    die('skip LATCH_TEST_NO_FPM=1: this PHP has no FPM');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_files.inc';
require __DIR__ . '/../../utils/phpt_server.inc';

$directory = temporary_directory();
$main = application($directory);
$user = posix_geteuid() === 0 ? ['preload_user=root'] : [];
$names = "['vendor/Key', 'vendor/PersistingStoreInterface', 'src/Store']";
$whose = php_file($directory, 'whose.php', '
    echo (new ReflectionClass("Symfony\Component\Lock\Key"))->isInternal() ? "Latch " : "Symfony ";
    (new App\Store)->save(new Symfony\Component\Lock\Key("a"));');

foreach (['require __DIR__', 'include_once __DIR__', 'opcache_compile_file(__DIR__'] as $way) {
    $end = str_contains($way, '(') ? ')' : '';
    $script = php_file($directory, 'preload.php', "foreach ($names as \$name) { $way . \"/\$name.php\"$end; }");
    foreach ([true => 'Latch saves a', false => 'Symfony saves a'] as $latch => $expected) {
        $said = run_script((bool) $latch, $whose, ...opcache("preload=$script", ...$user));
        check_same($expected, $said, "$way, " . ($latch ? 'with Latch' : 'without'));
    }
}

/* A server that has preloaded some, and includes all. */
$script = php_file($directory, 'preload.php', 'require __DIR__ . "/vendor/Key.php";');
Server::$settings = ['-d', 'latch.symfony=1', ...opcache("preload=$script", 'file_update_protection=0', ...$user)];
$server = new Fpm();
try {
    $server->script('app', "include '$main'; echo ', preloaded: ', count(preg_grep('~/vendor/Key~', array_keys(opcache_get_status()['scripts'])));");
    foreach ([1, 2, 3] as $request) {
        check_same('Latch saves a, preloaded: 1', $server->ask('app'), "request $request");
    }
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
