--TEST--
phpinfo() shows what Lock::getStatistics() says, under either name
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

$code = <<<'PHP'
    $store = new NS\Store\InMemoryStore();
    $lock = new NS\Lock(new NS\Key('a'), $store);
    $other = new NS\Lock(new NS\Key('a'), $store);
    for ($i = 0; $i < 7; $i++) {
        $lock->acquire();
    }
    for ($i = 0; $i < 3; $i++) {
        $other->acquire();
    }
    $other->acquire(true, 0.02);
    phpinfo(INFO_MODULES);
    echo json_encode(NS\Lock::getStatistics());
    PHP;
foreach (['0' => 'Latch', '1' => 'Symfony\Component\Lock'] as $symfony => $namespace) {
    $process = proc_open(
        php_command('-d', "latch.symfony=$symfony", '-r', str_replace('NS', $namespace, $code)),
        [1 => ['pipe', 'w']],
        $pipes
    );
    $text = stream_get_contents($pipes[1]);
    check_same(0, proc_close($process), "$namespace: exit code");
    $statistics = json_decode(substr($text, strrpos($text, '{')), true);
    check_same([7, 4, 1], [$statistics['acquired'], $statistics['conflicts'], $statistics['waits']], $namespace);
    foreach ([
        'Acquired' => '7',
        'Conflicts' => '4',
        'Waits' => '1',
        'Time spent waiting' => sprintf('%.3f s', $statistics['waitSeconds']),
        'Released at shutdown' => '0',
        'Lost' => '0',
    ] as $row => $value) {
        check(str_contains($text, "\n$row => $value\n"), "$namespace: $row => $value");
    }
    foreach (['Locks', 'Semaphores', 'Multi-locks'] as $what) {
        check(preg_match("/^ *$what of this (process|thread) since it started *$/m", $text) === 1, "$namespace: title of $what");
    }
}
echo "done\n";
--EXPECT--
done
