--TEST--
latch: what is wrong in the arguments is named on standard error, with the exit code 64
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

$cases = [
    'a command is missing; known are run' => [],
    'there is no command "statsu"; did you mean "status"?' => ['statsu', 'job'],
    'there is no help on "lists"; did you mean "list"?' => ['help', 'lists'],
    'there is no command "fly"; known are run, status' => ['fly'],
    'there is no command "-x\\n"' => ["-x\n"],
    'there is no help on "flying"' => ['help', 'flying'],

    'the resource is missing before "--"' => ['run', '--', 'sleep', '1'],
    'the resource is missing before "--"; latch run' => ['run'],
    '"--" and a command are missing behind the resource' => ['run', 'job'],
    'the command is missing behind "--"' => ['run', 'job', '--'],
    'the command is missing behind "--"; latch' => ['run', '--', '-job', '--'],
    '"sleep" is one argument too many before "--"' => ['run', 'job', 'sleep', '1'],
    'unknown option "--nope"; known are --store, --wait' => ['run', '--nope', 'job', '--', 'true'],
    'unknown option "-j"; known are --store' => ['run', '-job', '--', 'true'],
    'unknown option "-x"; known are --store' => ['run', 'job', '-x', '--', 'true'],
    'unknown option "-x"; known are --store #behind others' => ['run', '-qx', 'job', '--', 'true'],
    'unknown option "--wiat"; did you mean "--wait"?' => ['run', '--wiat', '5', 'job', '--', 'true'],
    'unknown option "--wait-for"; known are --store' => ['run', '--wait-for=5', 'job', '--', 'true'],
    'unknown option "--share"; did you mean "--shared"?' => ['run', '--share', 'job', '--', 'true'],
    'unknown option "--conflict"; did you mean "--conflict-exit-code"?' => ['run', '--conflict=5', 'job', '--', 'true'],
    'unknown option "--keepalive"; did you mean "--keep-alive"?' => ['run', '--keepalive', 'job', '--', 'true'],
    'unknown option "--Wait"; did you mean "--wait"?' => ['run', '--Wait', 'job', '--', 'true'],
    'unknown option "--timeout"; did you mean "--wait"?' => ['run', '--timeout', '5', 'job', '--', 'true'],
    'unknown option "--nonblock"; did you mean "-n"?' => ['run', '--nonblock', 'job', '--', 'true'],
    'unknown option "-s"; did you mean "--shared"?' => ['run', '-s', 'job', '--', 'true'],
    'unknown option "--stroe"; did you mean "--store"?' => ['list', '--stroe=redis://:secret@host'],
    'unknown option "--nonblock"; known are --store, --format, --help' => ['status', '--nonblock', 'job'],
    'unknown option "-w"; known are --store, --format, --help' => ['status', '-w', '5', 'job'],
    'unknown option (not shown); known are --store' => ['list', "--\xff"],
    'the resource is missing before "--" ("5" is the time of --wait; a resource of that name goes behind a "--" of its own)'
        => ['run', '--wait', '5', '--', 'true'],
    '--wait takes a number of seconds such as 30 or 2.5, not "5s"' => ['run', '--wait', '5s', '--', 'true'],
    '-w takes a number of seconds such as 30 or 2.5, not "job"' => ['run', '-w', 'job', 'job', '--', 'true'],
    '-w needs a value, as in -w 5' => ['run', 'job', '-w', '--', 'true'],
    '-E takes a whole number from 0 to 255, not "x"' => ['run', '-Ex', 'job', '--', 'true'],
    '-n and --wait do not go together: leave one out' => ['run', '-n', '--wait', 'job', '--', 'true'],
    '-n and -w do not go together: leave one out' => ['run', '-w', '5', '-n', 'job', '--', 'true'],
    'the resource is empty: give the lock a name (is a variable of the shell not set?)' => ['run', '', '--', 'true'],
    'the resource is empty: #behind --' => ['run', '--', '', '--', 'true'],
    'the resource is empty: #status' => ['status', ''],
    'the resource is empty: #release' => ['release', '--force', '--', ''],
    'a resource that begins with "-" goes behind a "--"' => ['status', '-job'],
    '--shared takes no value; leave the value out' => ['run', '--shared=1', 'job', '--', 'true'],
    '--slots takes the number of holders at a time, 1 or more, not "0"' => ['run', '--store=redis://h', '--slots=0', 'job', '--', 'true'],
    '--slots takes the number of holders at a time, 1 or more, not "-1"' => ['run', '--slots=-1', 'job', '--', 'true'],
    '--slots takes the number of holders at a time, 1 or more, not "2.5"' => ['run', '--slots=2.5', 'job', '--', 'true'],
    '--slots takes the number of holders at a time, 1 or more, not "9007199254740993"' => ['run', '--slots=9007199254740993', 'job', '--', 'true'],
    '--slots needs a value' => ['run', 'job', '--slots'],
    '--slots and --shared do not go together' => ['run', '--store=redis://h', '--slots=2', '--shared', 'job', '--', 'true'],
    '--quiet takes no value;' => ['run', '--quiet=', 'job', '--', 'true'],
    '--store needs a value, as in --store=' => ['run', 'job', '--store', '--', 'true'],
    '--ttl needs a value' => ['run', 'job', '--ttl'],
    '--shared does not go with semaphores' => ['run', '--store=semaphore', '--shared', 'job', '--', 'true'],

    'the resource is missing, as in: latch status' => ['status'],
    '"b" is one argument too many: leave it out' => ['status', 'a', 'b'],
    '"c" is one argument too many: leave it out' => ['status', 'a', '--', 'c'],
    'unknown option "--wait"; known are --store, --format, --help' => ['status', '--wait', 'a'],
    '"a" is one argument too many: leave it out' => ['list', 'a'],
    'unknown option "--shared"; known are' => ['list', '--shared'],
    'semaphores cannot be listed' => ['list', '--store=semaphore://x'],
    '--shared does not go with locks in MySQL' => ['run', '--store=mysql+advisory:host=x', '--shared', 'job', '--', 'true'],
    '--keep-alive and --no-keep-alive do not go together' => ['run', '--keep-alive', '--no-keep-alive', 'job', '--', 'true'],
    '--no-keep-alive needs --ttl=S' => ['run', '--no-keep-alive', 'job', '--', 'true'],
    '--keep-alive takes no value; leave the value out' => ['run', '--keep-alive=5', 'job', '--', 'true'],
    '--max-hold does not go with --lost-signal=none' => ['run', '--max-hold=5', '--lost-signal=none', 'job', '--', 'true'],
    '--lost-signal needs a value' => ['run', 'job', '--lost-signal'],
    'unknown option "--keep-alive"; known are --store, --format, --help' => ['status', '--keep-alive', 'a'],
    'the resource is missing, as in: latch release --force RESOURCE' => ['release', '--force'],
    'only its holder can release a lock; --force takes it away from the holder' => ['release', 'job'],
    'unknown option "--all"; known are --store, --force, --yes, --help' => ['release', '--all', 'job'],
    '--all goes with locks in Redis alone' => ['list', '--all'],
    '--format takes json or plain, not "xml"' => ['list', '--format=xml'],
    '--format needs a value' => ['status', 'job', '--format'],
    'the store is not usable: invalid Redis DSN: TLS is not spoken on a Unix socket'
        => ['run', '--store=rediss://:secret@/run/redis.sock', 'job', '--', 'true'],
    'the store is not usable: invalid Redis DSN: the option "nonsense" is unknown'
        => ['run', '--store=redis://:secret@host?nonsense=1', 'job', '--', 'true'],
    'the store is not usable: invalid Redis DSN: it names no server' => ['run', '--store=redis:', 'job', '--', 'true'],
    'the locks in PostgreSQL cannot be listed' => ['list', '--store=postgresql+advisory://:secret@host'],
];
foreach (['-1', 'NAN', 'nan', 'INF', '1e999', '1e3', '', ' 1', "1\n", '0x10', '1,5', '.', str_repeat('9', 400)] as $number) {
    foreach (['ttl', 'wait', 'lost-grace', 'max-hold'] as $option) {
        $cases["--$option takes a number of seconds such as 30 or 2.5, not \"" . addcslashes($number, "\n") . '"']
            = ['run', "--$option=$number", 'job', '--', 'true'];
    }
}
foreach (['0', '0.0'] as $number) {
    foreach (['ttl', 'max-hold'] as $option) {
        $cases["--$option takes a number of seconds such as 30 or 2.5, not \"$number\""] = ['run', "--$option=$number", 'job', '--', 'true'];
    }
}
foreach (['', 'X', '0', '65', '100', '-1', 'SIG', 'SIG_DFL', '_DFL', 'term', 'None', "TERM\n", '1.5', 'SIGSIGTERM'] as $name) {
    $cases['--lost-signal takes a signal such as TERM or 15, or none, not "' . addcslashes($name, "\n") . '"']
        = ['run', "--lost-signal=$name", 'job', '--', 'true'];
}
foreach (['-1', '256', '1.5', '', 'x', '1e2', '99999999999999999999', "7\n"] as $number) {
    foreach (['conflict', 'lost'] as $case) {
        $cases["--$case-exit-code takes a whole number from 0 to 255, not \"" . addcslashes($number, "\n") . '"']
            = ['run', "--$case-exit-code=$number", 'job', '--', 'true'];
    }
}
// Those that exclude other processes; those that expire come last.
$stores = array_filter(Latch\Store\StoreFactory::describe(), fn (array $store) => $store['native'] && in_array($store['scope'], ['machine', 'server'], true));
usort($stores, fn (array $one, array $other) => $one['expiring'] <=> $other['expiring']);
$examples = implode(', ', array_keys(array_merge(...array_column($stores, 'examples'))));
check_same([], array_diff(['flock', 'flock:///DIRECTORY', 'flock+remove', 'flock+remove:///DIRECTORY', 'semaphore', 'semaphore://PROJECT',
    'pgsql+advisory:…', 'postgresql+advisory://…', 'mysql+advisory:…', 'mysql+advisory://…', 'redis://…', 'valkey://…'], explode(', ', $examples)), 'examples');
foreach ([
    'secret' => ['', ''], 'secret:6379' => ['', ''], 'SECRET@host' => ['', ''], '' => ['', ''], 'FLOCK' => [' "FLOCK"', 'flock'],
    'flock:' => [' "flock"', 'flock'], 'flock:/tmp' => [' "flock"', 'flock'], 'flock://' => [' "flock://"', 'flock'],
    'flock+remove://' => [' "flock+remove://"', 'flock+remove'], 'null' => [' "null"', ''], 'in-memory' => [' "in-memory"', ''],
    'semaphores' => [' "semaphores"', 'semaphore'], 'memcached://:secret@host' => [' "memcached://…"', ''],
    'etcd://:secret@host' => [' "etcd://…"', ''],
    'redis' => [' "redis"', 'redis://…'], 'redus://:secret@host' => [' "redus://…"', 'redis://…'],
    'postgresql+advisory:host=h;password=secret' => [' "postgresql+advisory"', 'postgresql+advisory://…'],
] as $dsn => [$named, $meant]) {
    foreach ([['run', 'job', '--', 'true'], ['status', 'job'], ['list']] as $arguments) {
        $cases["the store$named is none of $examples; give one by --store or LATCH_STORE"
            . ($meant === '' ? "\n" : "; did you mean \"$meant\"?\n") . " #$dsn $arguments[0]"]
            = [$arguments[0], "--store=$dsn", ...array_slice($arguments, 1)];
    }
}

// all at once: each would take as long as PHP's start
foreach (array_chunk($cases, 8, true) as $chunk) {
    foreach (array_map(fn (array $arguments) => latch(...$arguments)->let_go(), $chunk) as $message => $program) {
        check_same('exit 64', $program->ending(), "the exit code of: $message");
        check_same('', $program->out(), "the standard output of: $message");
        $message = 'latch: ' . explode(' #', $message)[0];
        check(str_starts_with($program->err(), $message) || str_contains($program->err(), substr($message, 7)),
            "'$message' is said, not '{$program->err()}'");
        check(substr_count($program->err(), "\n") === 1 && stripos($program->err(), 'secret') === false, "one line: {$program->err()}");
    }
}

// by the environment
$program = new Program(latch_command('status', 'job'), [], ['LATCH_STORE' => 'nonsense']);
check(str_starts_with($program->all(), 'exit 64: |latch: the store is none of'), $program->all());
echo "done\n";
--EXPECT--
done
