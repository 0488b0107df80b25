--TEST--
latch.symfony is for locks and latch.symfony_semaphore for semaphores: each gives Symfony's names to its own classes alone
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

$code = <<<'PHP'
    $exists = fn (string $name) => class_exists($name, false) ? (new ReflectionClass($name))->name : null;
    echo json_encode([
        ...array_map($exists, ['Symfony\Component\Lock\Key', 'Symfony\Component\Semaphore\Key', 'Latch\Key', 'Latch\Semaphore\Key']),
        (string) (new ReflectionMethod('Latch\Semaphore\SemaphoreFactory', 'createSemaphore'))->getReturnType(),
        (string) (new ReflectionMethod('Latch\LockFactory', 'createLock'))->getReturnType(),
        array_diff(class_implements('Latch\Semaphore\SemaphoreFactory'), ['x']) !== [],
        @ini_set('latch.symfony_semaphore', '1'),
        ini_get_all('latch')['latch.symfony_semaphore']['access'] === INI_SYSTEM,
    ]);
    PHP;
foreach ([0, 1] as $locks) {
    foreach ([0, 1] as $semaphores) {
        $process = proc_open(php_command('-d', "latch.symfony=$locks", '-d', "latch.symfony_semaphore=$semaphores", '-r', $code), [1 => ['pipe', 'w']], $pipes);
        $said = json_decode(stream_get_contents($pipes[1]));
        check_same(0, proc_close($process), "$locks, $semaphores: status");
        [$ours, $permits] = [$locks ? 'Symfony\Component\Lock\\' : 'Latch\\', $semaphores ? 'Symfony\Component\Semaphore\\' : 'Latch\Semaphore\\'];
        check_same([
            $locks ? "{$ours}Key" : null, $semaphores ? "{$permits}Key" : null, "{$ours}Key", "{$permits}Key",
            "{$permits}SemaphoreInterface", "{$ours}SharedLockInterface", $locks || $semaphores, false, true,
        ], $said, "latch.symfony=$locks, latch.symfony_semaphore=$semaphores");
    }
}
check_same('0', ini_get('latch.symfony_semaphore'), 'it is off by default');
echo "done\n";
--EXPECT--
done
