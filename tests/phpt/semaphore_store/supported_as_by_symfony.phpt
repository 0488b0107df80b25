--TEST--
SemaphoreStore::isSupported(): always; under Symfony's names where Symfony's own store would be
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

/* FrameworkBundle's default store depends on it: processes with and without Latch must choose alike. */
$code = 'exit((int) (Latch\Store\SemaphoreStore::isSupported() !== (extension_loaded("sysvsem") || !ini_get("latch.symfony"))));';
$shared = is_file(PHP_EXTENSION_DIR . '/sysvsem.so');
foreach ([0, 1] as $symfony) {
    foreach ($shared ? [[], ['-d', 'extension=sysvsem']] : [[]] as $sysvsem) {
        $process = proc_open(php_command('-d', "latch.symfony=$symfony", ...[...$sysvsem, '-r', $code]), [], $pipes);
        check_same(0, proc_close($process), "latch.symfony=$symfony " . implode(' ', $sysvsem));
    }
}
echo "done\n";
--EXPECT--
done
