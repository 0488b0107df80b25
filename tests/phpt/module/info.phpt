--TEST--
phpinfo() and --ri show the stores and the settings
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

$run = function (string ...$arguments): string {
    $process = proc_open(php_command(...$arguments), [1 => ['pipe', 'w']], $pipes);
    $text = stream_get_contents($pipes[1]);
    proc_close($process);
    return $text;
};
$rows = function (string $text): array {
    preg_match_all('/^(.+?) => (.+)$/m', $text, $matches, PREG_SET_ORDER);
    return array_combine(array_column($matches, 1), array_column($matches, 2));
};
$info = $rows($run('--ri', 'latch'));
check_same('enabled', $info['Latch'] ?? null, 'Latch');
check_same('Latch', $info['Classes'] ?? null, 'Classes');
check(preg_match('/^\d+\.\d+\.\d+/', $info['Version'] ?? '') === 1, 'Version');
check_same(phpversion('latch'), $info['Version'] ?? null, 'Version');
foreach (['flock', 'in-memory', 'null'] as $store) {
    check_same('yes', $info["$store store"] ?? null, "$store store");
}
// What is there, and nothing that a later version may have.
$stores = preg_replace('/ store$/', '', array_values(preg_grep('/ store$/', array_keys($info))));
sort($stores);
$described = array_values(array_unique(array_column(
    array_filter(Latch\Store\StoreFactory::describe(), fn (array $store) => $store['native']),
    'name'
)));
sort($described);
check_same($described, $stores, 'stores');
check_same([], array_diff(['combined', 'flock', 'in-memory', 'mysql', 'null', 'postgresql', 'redis', 'semaphore'], $stores), 'stores');
check(!str_contains(implode("\n", $info), 'not in this version'), 'stores of a later version');
foreach (['redis' => 'hiredis', 'postgresql' => 'libpq', 'mysql' => 'libmariadb'] as $store => $library) {
    $row = $info["$store store"] ?? '';
    check(preg_match("/^yes \\($library [\d.]+\\)$|built without $library$/", $row) === 1, "$store store: $row");
}
if (str_starts_with($info['redis store'], 'yes')) {
    $row = $info['redis store, TLS'] ?? '';
    check(preg_match('/^yes \(OpenSSL \d\S+\)$|^no: built without OpenSSL$/', $row) === 1, "TLS: $row");
}
foreach (['latch.symfony', 'latch.symfony_semaphore', 'latch.keep_alive', 'latch.throw_on_lost'] as $setting) {
    check_same('Off => Off', $info[$setting] ?? null, $setting);
}
check_same('0 => 0', $info['latch.max_hold'] ?? null, 'latch.max_hold');
check_same('On => On', $info['latch.holder_note'] ?? null, 'latch.holder_note');
check_same('no value => no value', $info['latch.holder_name'] ?? null, 'latch.holder_name');
foreach ([
    'latch.symfony' => 'Symfony\Component\Lock, with aliases in Latch',
    'latch.symfony_semaphore' => 'Latch; Symfony\Component\Semaphore, with aliases in Latch',
] as $setting => $classes) {
    $info = $rows($run('-d', "$setting=1", '--ri', 'latch'));
    check_same($classes, $info['Classes'] ?? null, "Classes with $setting");
    check_same('On => On', $info[$setting] ?? null, $setting);
}
$info = $rows($run('-d', 'latch.symfony=1', '-d', 'latch.symfony_semaphore=1', '--ri', 'latch'));
check_same('Symfony\Component\Lock and \Semaphore, with aliases in Latch', $info['Classes'] ?? null, 'Classes with both');
check(str_contains($run('-i'), 'flock store => yes'), 'phpinfo()');
echo "done\n";
--EXPECT--
done
