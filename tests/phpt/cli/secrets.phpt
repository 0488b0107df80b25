--TEST--
latch: no password is shown by any command, in text and JSON, however wrong the DSN is and wherever it stands
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';
require __DIR__ . '/../../utils/phpt_secrets.inc';

$seed = (int) (getenv('LATCH_TEST_SEED') ?: 20261123);

/** Nothing that the program has said has the secret in it. */
function check_secrecy(Program $program, string $what): void
{
    $said = $program->let_go()->all();
    check(!has_secret($said), "LATCH_TEST_SEED={$GLOBALS['seed']}: $what: $said");
    check(preg_match('/Warning|Notice|Deprecated|internal error/', $said) !== 1, "$what: nothing that PHP says: $said");
}

/** With "display_errors", and the arguments of functions in what is said of uncaught exceptions. */
function chatty(array $settings, array $environment, string ...$arguments): Program
{
    $command = latch_command(...$arguments);
    foreach ([...$settings, 'zend.exception_ignore_args=0', 'zend.exception_string_param_max_len=100000', 'display_errors=1'] as $setting) {
        array_splice($command, 2, 0, ['-d', $setting]);
    }
    return new Program($command, [], $environment + array_diff_key(getenv(), ['LATCH_STORE' => 0, 'LOCK_DSN' => 0]));
}

/** What no argument and no variable of the environment can have. */
function has_nul(string $text): bool
{
    return str_contains($text, "\0");
}

$mistakes = array_values(array_filter(dsns_by_mistake(), fn (string $dsn) => !has_nul($dsn)));
$mutated = array_values(array_filter(dsns_mutated(800, $seed), fn (string $dsn) => !has_nul($dsn)));
$refused = [...dsns_refused($mistakes), ...dsns_refused($mutated)];
check(count($refused) > 700, count($refused) . ' are refused');

/* The doctor, many at a time. */
foreach (array_chunk([...dsns_with_secret(), ...$refused], 150) as $number => $chunk) {
    foreach ([[], ['--format=json']] as $format) {
        $settings = $number % 2 === 1 ? ['latch.symfony=1'] : [];
        $program = chatty($settings, [], 'doctor', ...$format, ...array_map(fn (string $dsn) => "--store=$dsn", $chunk));
        check_secrecy($program, "doctor, $number");
        check(substr_count($program->out(), 'fault') > count(array_unique($chunk)) / 2, "doctor, $number: all are looked at");
    }
}
check_secrecy(chatty([], ['LOCK_DSN' => 'redis://user:' . SECRET], 'doctor'), 'LOCK_DSN');

/* The others, each as an option and in the environment; those that are not refused are not connected to. */
mt_srand($seed);
$commands = [['run', 'job', '--', 'true'], ['status', 'job'], ['list'], ['release', '--force', '--yes', 'job'], ['status', '--format=json', 'job'],
    ['list', '--all', '--format=json'], ['run', '--wait', '0', '--shared', 'job', '--', 'true'], ['list', '--all']];
$cases = [];
foreach (dsns_with_secret() as $at => $dsn) {
    $cases[] = [$commands[$at % count($commands)], $dsn];
}
foreach ($commands as $command) {
    foreach (array_rand($refused, 12) as $at) {
        $cases[] = [$command, $refused[$at]];
    }
    $cases[] = [$command, 'flock://user:' . SECRET . '@127.0.0.1'];
    $cases[] = [$command, 'flock+remove://user:' . SECRET];
}
$programs = [];
foreach ($cases as $number => [$command, $dsn]) {
    $programs["$command[0] with DSN $number"] = $number % 2 === 0 ? chatty([], ['LATCH_STORE' => $dsn], ...$command)
        : chatty([], [], $command[0], "--store=$dsn", ...array_slice($command, 1));
    if (count($programs) === 8) {
        array_walk($programs, check_secrecy(...));
        $programs = [];
    }
}
array_walk($programs, check_secrecy(...));

/* A DSN, or its password, in a wrong place. */
$dsn = 'redis://user:' . SECRET . '@127.0.0.1:1';
foreach ([
    [$dsn], ['help', $dsn], ['run', 'job', $dsn, '--', 'true'], ['run', "--stroe=$dsn", 'job', '--', 'true'], ["--store=$dsn", 'run'],
    ['run', '--ttl', "--store=$dsn", 'job', '--', 'true'], ['run', "--ttl=$dsn", 'job', '--', 'true'], ['run', '-w', $dsn, 'job', '--', 'true'],
    ['run', "-E$dsn", 'job', '--', 'true'], ['run', "-p$dsn", 'job', '--', 'true'], ['run', '-p' . SECRET, 'job', '--', 'true'],
    ['run', "--shared=$dsn", 'job', '--', 'true'], ['run', "--lost-signal=$dsn", 'job', '--', 'true'],
    ['run', "--lost-exit-code=$dsn", 'job', '--', 'true'], ['status', 'job', $dsn], ['status', "--format=$dsn", 'job'], ['list', $dsn],
    ['list', "--all=$dsn"], ['doctor', $dsn], ['doctor', "--format=$dsn"], ['doctor', "--vendor=$dsn"], ['doctor', "--stores=$dsn"],
] as $arguments) {
    $program = chatty([], [], ...$arguments);
    check_secrecy($program, implode(' ', $arguments));
    check_same('exit 64', $program->ending(), implode(' ', $arguments));
}
echo "done\n";
--EXPECT--
done
