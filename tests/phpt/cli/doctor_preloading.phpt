--TEST--
latch doctor: it finds whether PHP starts with what is preloaded, which may declare classes that Latch provides
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts many times here');
}
if (!extension_loaded('Zend OPcache') && !is_file(PHP_EXTENSION_DIR . '/opcache.so')) {
    die('skip this PHP has no opcache');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';

$directory = temporary_directory();
mkdir("$directory/vendor/symfony/lock", 0755, true);
$key = "$directory/vendor/symfony/lock/Key.php";
file_put_contents($key, '<?php namespace Symfony\Component\Lock; final class Key {}');
$script = "$directory/preload.php";

/** What the doctor finds when a server would preload that. */
function preloading(string $case, string $code, string $symfony = '1'): DoctorReport
{
    global $directory, $script;
    file_put_contents($script, "<?php $code");
    return new DoctorReport($case, ["--store=flock://$directory"], [
        ...is_file(PHP_EXTENSION_DIR . '/opcache.so') ? ['zend_extension=opcache'] : [],
        "opcache.preload=$script",
        ...posix_geteuid() === 0 ? ['opcache.preload_user=root'] : [],
        "latch.symfony=$symfony",
    ]);
}

chmod($directory, 0755);
preloading('required', "require '$key';")->has_no_others()->has('ok', 'preloading', $script);
preloading('compiled', "opcache_compile_file('$key');")->has_no_others()->has('ok', 'preloading', $script);
preloading('asked for', 'class_exists(Symfony\Component\Lock\Key::class);')->has_no_others()
    ->has('ok', 'preloading', $script);
preloading('declared in a condition', 'namespace Symfony\Component\Lock; if (true) { final class Key {} }')->has_no_others('fault')
    ->has('fault', 'preloading', 'declare class Symfony\Component\Lock\Key', 'correct it');
preloading('wrong for another reason', 'no_such_function();')->has_no_others('fault')
    ->has('fault', 'preloading', "PHP does not start with $script: ", 'correct it');
preloading("without Symfony's names", "require '$key';", '0')->has_no_others()->lacks($script);
echo "done\n";
--EXPECT--
done
