--TEST--
A client library is opened by the first store that needs it; where it cannot be, an exception names the package
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

/** The sonames that the build has found. */
function sonames(): array
{
    preg_match_all('~lib(?:hiredis|ssl|pq|mariadb)\.so[.\d]*~', file_get_contents(module_path()), $matches);
    return array_values(array_unique($matches[0]));
}

function is_mapped(string $soname): bool
{
    return preg_match('~/' . preg_quote($soname, '~') . '[.\d]*$~m', file_get_contents('/proc/self/maps')) === 1;
}

/** A store of each kind, by what its library is called; nothing is connected yet. */
function stores(): array
{
    return [
        'hiredis' => fn () => new Latch\Store\RedisStore('redis://:secret@127.0.0.1'),
        'ssl' => fn () => new Latch\Store\RedisStore('rediss://:secret@127.0.0.1'),
        'pq' => fn () => new Latch\Store\PostgreSqlStore('pgsql:host=127.0.0.1;password=secret'),
        'mariadb' => fn () => new Latch\Store\MysqlStore('mysql:host=127.0.0.1', ['db_password' => 'secret']),
    ];
}

function make_in_child(): void
{
    foreach (sonames() as $soname) {
        $name = substr($soname, 3, strpos($soname, '.') - 3);
        $make = stores()[$name];
        // PHP itself may be linked with it
        if (!is_mapped($soname)) {
            $broken = getenv('LD_LIBRARY_PATH') . "/$soname";
            file_put_contents($broken, 'no library');
            if ($name === 'ssl') {
                stores()['hiredis']();
            }
            $said = outcome($make);
            check(preg_match(
                "~^Latch\\\\Exception\\\\LockStorageException: cannot open the client library \w+: \S*$soname: "
                . "file too short; install the package with $soname \(Debian, Ubuntu: lib$name\S+, Alpine: \S+\), "
                . 'or build Latch again for the one that is installed$~',
                $said
            ) === 1, $said);
            check(!is_mapped($soname), "$soname is not opened in vain");
            unlink($broken);
        }
        // it may be installed while a program runs
        check(str_starts_with(outcome($make), 'Latch\Store\\'), outcome($make));
        check(is_mapped($soname), "$soname is open");
    }
    echo "done\n";
}

if (($argv[1] ?? '') === 'child') {
    make_in_child();
    exit;
}

$before = array_filter(sonames(), is_mapped(...));
$store = new Latch\Store\FlockStore(temporary_directory());
check((new Latch\LockFactory($store))->createLock('r')->acquire(), 'a flock');
check_same($before, array_filter(sonames(), is_mapped(...)), 'libraries that are open');
$maps = fn (string ...$arguments): string => shell_exec(implode(' ', array_map(escapeshellarg(...), [
    PHP_BINARY, '-n', ...$arguments, '-r', 'echo file_get_contents("/proc/self/maps");',
])));
foreach (sonames() as $soname) {
    check_same(
        str_contains($maps(), "/$soname"),
        str_contains($maps('-d', 'extension=' . module_path()), "/$soname"),
        "$soname is loaded with Latch, or by PHP"
    );
}

$directory = temporary_directory();
$child = proc_open(php_command(__FILE__, 'child'), [], $pipes, null, ['LD_LIBRARY_PATH' => $directory] + getenv());
check_same(0, proc_close($child), 'exit code');
--EXPECT--
done
