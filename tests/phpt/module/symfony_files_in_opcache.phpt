--TEST--
Drop-in mode: what opcache has of files that declare Latch's classes is right with Latch and without
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip PHP starts many times here');
}
if (!extension_loaded('Zend OPcache') && !is_file(PHP_EXTENSION_DIR . '/opcache.so')) {
    die('skip this PHP has no opcache');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_files.inc';

$directory = temporary_directory();
$main = application($directory);

/* One file cache for all processes, whoever comes first. */
$expected = [true => 'Latch saves a', false => 'Symfony saves a'];
foreach (['file_cache_only=1', 'file_cache_only=0'] as $way) {
    foreach ([[true, false, true, false], [false, true, false, true]] as $order) {
        $cache = temporary_directory();
        foreach ($order as $turn => $latch) {
            $said = run_script($latch, $main, ...opcache("file_cache=$cache", $way, 'file_update_protection=0'));
            check_same($expected[$latch], $said, "$way, process $turn, " . ($latch ? 'with Latch' : 'without'));
        }
        check_same(2, count(glob("$cache/*$directory/vendor/Key.php.bin")), "$way: what is cached of a file");
    }
}

/* dl() comes after PHP has chosen the file cache: Latch leaves the files alone, whose code others find there. */
$cache = temporary_directory();
$module = module_path();
$late = php_file($directory, 'late.php', "dl('" . basename($module) . "'); include __DIR__ . '/vendor/Key.php';");
$settings = opcache("file_cache=$cache", 'file_cache_only=1', 'file_update_protection=0');
$settings = str_replace('zend_extension=opcache', 'zend_extension=' . PHP_EXTENSION_DIR . '/opcache.so', $settings);
$said = run_script(false, $late, '-d', 'extension_dir=' . dirname($module), '-d', 'latch.symfony=1', ...$settings);
check(str_contains($said, 'declare class Symfony\Component\Lock\Key'), "dl() says: $said");
check_same($expected[false], run_script(false, $main, ...$settings), 'without Latch, behind one with dl()');

/* In one process, the second time from shared memory. */
$twice = php_file($directory, 'twice.php', '
    foreach ([1, 2, 3] as $time) {
        echo include __DIR__ . "/vendor/Key.php", opcache_is_script_cached(__DIR__ . "/vendor/Key.php") ? " cached, " : " not cached, ";
    }
    include __DIR__ . "/main.php";');
check_same('1 cached, 1 cached, 1 cached, Latch saves a',
    run_script(true, $twice, ...opcache('file_update_protection=0')), 'shared memory');

/* Archives have a hook of their own in front of the compiler. */
if (is_file(PHP_EXTENSION_DIR . '/phar.so')) {
    $archive = php_file($directory, 'archive.php', '
        $archive = new Phar(__DIR__ . "/vendor.phar");
        $archive->addFile(__DIR__ . "/vendor/Key.php", "Key.php");
        echo include "phar://" . __DIR__ . "/vendor.phar/Key.php";');
    check_same('1', run_script(true, $archive, '-d', 'extension=phar', '-d', 'phar.readonly=0', ...opcache()), 'an archive');
}
echo "done\n";
--EXPECT--
done
