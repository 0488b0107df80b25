--TEST--
latch doctor: wrong arguments and DSNs that nobody knows are named, without what may be secret; it works where Latch is not loaded
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts many times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';

$directory = temporary_directory();
chmod($directory, 0755);
$store = "--store=flock://$directory";

// 64: the arguments
foreach ([
    'unknown option "--nope"; known are --store, --vendor, --format, --help' => ['--nope=SECRET'],
    'unknown option "--stroe"; did you mean "--store"?' => ['--stroe=redis://:SECRET@host'],
    'a store is given by --store=DSN, and there are no other arguments' => ['redis://:SECRET@host'],
    '--store needs a value, as in --store=…' => ['--store'],
    '--format is json or plain' => ['--format=xml'],
    '--vendor takes Composer\'s folder, with composer/installed.json in it; "/nowhere" has no such file' => ['--vendor', '/nowhere'],
] as $message => $arguments) {
    check_same("exit 64: |latch: $message\n", latch_to_end('doctor', ...$arguments), $message);
}

// DSNs that nobody knows, and what is written in a wrong way
$places = [
    'redus' => 'redus',
    'redus://user:SECRET@host:6379/1' => 'redus:…',
    'redus://host?auth=SECRET' => 'redus:…',
    'redus:host=here;password=SECRET;port=7' => 'redus:…',
    'etcd://user:SECRET@host' => 'etcd:…',
    'SECRET' => '(not a DSN)',
    'SECRET:6379' => '(not a DSN)',
    "pass\nSECRET" => '(not a DSN)',
];
$report = new DoctorReport('nobody knows them', array_map(fn (string $dsn) => "--store=$dsn", array_keys($places)));
$report->has_no_others(...array_fill(0, count($places), 'fault'))->lacks('SECRET', 'RET');
$faults = array_values(array_filter($report->findings, fn (array $finding) => $finding['level'] === 'fault'));
check_same(array_values($places), array_column($faults, 'subject'), 'what is shown of them');
check(str_ends_with($faults[1]['text'], '; did you mean "redis"?'), 'the nearest scheme');
foreach ($faults as $fault) {
    check(preg_match('/^no store has such a DSN(; did you mean "redis"\?)?$/D', $fault['text']) === 1 && str_contains($fault['remedy'], 'redis://HOST:PORT'), "$fault[subject]: what to do");
}
$other_forms = ['postgresql+advisory:host=h;password=SECRET' => 'postgresql+advisory://', 'flock:SECRET' => 'flock://'];
$report = new DoctorReport('known schemes in other forms', array_map(fn (string $dsn) => "--store=$dsn", array_keys($other_forms)));
$report->lacks('SECRET', 'RET');
check_same(array_map(fn (string $form) => "no store has such a DSN; did you mean \"$form\"?", array_values($other_forms)),
    array_column(array_filter($report->findings, fn (array $finding) => $finding['level'] === 'fault'), 'text'), 'the form that is meant');
foreach ([
    'redis://user:SECRET' => ['redis:…', 'the port is a number'],
    'redis:SECRET' => ['redis:…', 'a host stands after two slashes'],
    'redis://host/SECRET' => ['redis:…', 'the database'],
    'redis://:SEC/RET@host:x' => ['redis:…', 'the port is a number'],
    'redis://:SECRET@SECRET@host' => ['redis:…', 'only one "@"'],
    'redis:?host[user:SECRET]' => ['redis:…', 'the port is a number'],
    "mysql+advisory:password=a;;host=SECRET;nonsense=1" => ['mysql+advisory:…', ''],
    'pgsql+advisory:host=user:SECRET;port=1' => ['pgsql+advisory:…', 'the option "host"'],
    "pgsql+advisory:host=h;password='a;host=SECRET" => ['pgsql+advisory:…', 'is not closed'],
    'redis://:SECRET@' => ['redis:…', 'it names no server'],
    'redis://:SECRET@host?nonsense=1' => ['redis://host', 'nonsense'],
    'rediss://:SECRET@host?ssl[passphrase]=SECRET&ssl[local_pk]=x' => ['rediss://host', 'ssl[local_cert]'],
    'memcached://user:SECRET@host' => ['memcached://host', ''],
    'memcached://user:SECRET' => ['memcached:…', ''],
    'pgsql+advisory:nonsense=SECRET' => ['pgsql+advisory:…', ''],
] as $dsn => [$shown, $text]) {
    $report = new DoctorReport($dsn, ["--store=$dsn"]);
    $report->has_no_others('fault')->lacks('SECRET')->has('fault', $shown, 'cannot be opened: ', '');
    $report->has('fault', $shown, $text);
}

// who says which store
$environment = ['LOCK_DSN' => 'null', 'LATCH_STORE' => "flock://$directory"];
(new DoctorReport('LATCH_STORE', [], [], $environment))->has_no_others()->has('ok', "flock://$directory (LATCH_STORE)", 'FlockStore');
(new DoctorReport('LOCK_DSN', [], [], ['LATCH_STORE' => ''] + $environment))->has_no_others()->has('ok', 'null (LOCK_DSN)', 'NullStore');
$report = (new DoctorReport('two', [$store, '--store', 'in-memory'], [], $environment))->has_no_others()->lacks('LOCK_DSN');
$report->has('ok', "flock://$directory", 'native');
$report->has('ok', 'in-memory', 'InMemoryStore (native) locks');
$found = $report->has('ok', 'latch', 'version');
check_same(phpversion('latch'), $found['version'], 'the version');
check_same(PHP_VERSION, $report->has('ok', 'php', 'PHP ')['version'], 'the version of PHP');

// without the extension
$program = new Program([PHP_BINARY, '-n', LATCH, 'doctor', $store]);
$said = $program->let_go()->all();
check(str_starts_with($said, 'exit 1: ') && str_contains($said, "\nfault    latch: the extension is not loaded by " . PHP_BINARY . "\n"), $said);
check(str_contains($said, ' do: put "extension=latch" into ') && str_ends_with($said, "\n1 fault, 0 warnings\n|"), $said);

// what "latch run" needs
if (is_file(PHP_EXTENSION_DIR . '/posix.so')) {
    $said = (new Program(php_command(LATCH, 'doctor', $store)))->let_go()->all();
    check(str_contains($said, "\nnote     php: \"latch run\" needs the extension posix; locks do not\n"), $said);
}

// help; by its own name; by a link; without its file
$help = latch_to_end('doctor', '--help');
check(str_starts_with($help, 'exit 0: Usage: latch doctor [') && str_ends_with($help, "\n|"), $help);
check_same($help, latch_to_end('help', 'doctor'), 'help doctor');
check(max(array_map(fn (string $line) => preg_match_all('/./su', $line), explode("\n", $help))) <= 100, 'no line is too long');
$command = latch_command($store);
$command[array_search(LATCH, $command, true)] = LATCH . '-doctor';
$said = (new Program($command))->let_go()->all();
check(str_starts_with($said, 'exit 0: ok       php: PHP ') && str_ends_with($said, "\n0 faults, 0 warnings\n|"), $said);
symlink(realpath(LATCH), "$directory/latch");
$command = str_replace(LATCH, "$directory/latch", latch_command('doctor', '--help'));
check_same($help, (new Program($command))->let_go()->all(), 'by a link');
unlink("$directory/latch");
copy(LATCH, "$directory/latch");
check_same("exit 78: |latch: $directory/latch-doctor is missing: install it beside this program, with latch-*.inc\n",
    (new Program($command))->let_go()->all(), 'without its file');
echo "done\n";
--EXPECT--
done
