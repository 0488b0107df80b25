--TEST--
latch: what goes wrong besides the arguments has an exit code and a message of its own; help always works
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
$run = ['job', '--', 'echo', 'no'];

// 69: the store
touch("$directory/file");
check_same(
    "exit 69: |latch: The FlockStore directory \"$directory/file/x\" does not exists and cannot be created.\n",
    latch_to_end('run', "--store=flock://$directory/file/x", ...$run),
    'no directory'
);
symlink('/dev/null', lock_file($directory, 'job'));
$ending = latch_to_end('run', "--store=flock://$directory", ...$run);
check(str_starts_with($ending, 'exit 69: |latch: ') && str_contains($ending, 'is a symbolic link; remove it'), $ending);
unlink(lock_file($directory, 'job'));

// 78: without pcntl, or a part of it
$command = latch_command('run', "--store=flock://$directory", ...$run);
array_splice($command, 1, 0, ['-d', 'disable_functions=pcntl_fork']);
$ending = (new Program($command))->let_go()->all();
check(str_starts_with($ending, "exit 78: |latch: \"latch run\" needs PHP's extension \"pcntl\", but "), $ending);
check(str_contains($ending, 'has no pcntl_fork()') && str_contains($ending, 'disable_functions'), $ending);
check(is_free($directory, 'job'), 'nothing is locked');

// 78: without the extension
$bare = fn (string ...$arguments) => (new Program([PHP_BINARY, '-n', LATCH, ...$arguments]))->let_go()->all();
foreach ([['run', ...$run], ['status', 'job'], ['list']] as $arguments) {
    $ending = $bare(...$arguments);
    check(str_starts_with($ending, 'exit 78: |latch: the PHP extension "latch" is not loaded by ' . PHP_BINARY . "\n"), $ending);
    check(str_contains($ending, 'php -d extension=latch ' . realpath(LATCH) . ' …'), $ending);
}
check(str_starts_with($bare('run'), 'exit 64: '), 'wrong arguments without the extension');
check(str_starts_with($bare('--version'), 'exit 0: latch (the extension is not loaded), PHP '), $bare('--version'));

// help and version, and no notice wherever it is shown
foreach ([$bare, latch_to_end(...)] as $latch) {
    foreach ([['help'], ['--help'], ['-h']] as $arguments) {
        check(str_starts_with($latch(...$arguments), "exit 0: Usage: latch run [OPTION…] RESOURCE"), 'help');
    }
    foreach (['run', 'status', 'list', 'release'] as $command) {
        $text = $latch('help', $command);
        check(str_starts_with($text, "exit 0: Usage: latch $command ") && str_ends_with($text, "\n|"), "help on $command");
        check_same($text, $latch($command, '--help'), "$command --help");
        check_same($text, $latch($command, '--store=nonsense', '-h', 'x', 'y'), "$command -h");
        check(max(array_map('mb_len', explode("\n", $text))) <= 100, 'no line is too long');
    }
}
check_same('exit 0: latch ' . phpversion('latch') . ', PHP ' . PHP_VERSION . "\n|", latch_to_end('--version'), '--version');

// drop-in mode
$names = latch_command('run', "--store=flock://$directory", 'job', '--', 'echo', 'yes');
array_splice($names, 1, 0, ['-d', 'latch.symfony=1', '-d', 'display_errors=1']);
check_same("exit 0: yes\n|", (new Program($names))->let_go()->all(), "under Symfony's names");
$names = latch_command('status', "--store=flock://$directory", 'job');
array_splice($names, 1, 0, ['-d', 'latch.symfony=1', '-d', 'display_errors=1']);
check_same("exit 0: free\n|", (new Program($names))->let_go()->all(), "under Symfony's names");

// from elsewhere, by a link, and without arguments for env
mkdir("$directory/bin");
symlink(realpath(LATCH), "$directory/bin/latch");
$command = latch_command('run', 'job', '--', 'pwd');
$command[array_search(LATCH, $command, true)] = "$directory/bin/latch";
$program = new Program($command, [], ['LATCH_STORE' => "flock://$directory", 'PATH' => '/usr/bin:/bin']);
check_same('exit 0: ' . getcwd() . "\n|", $program->let_go()->all(), 'by a link');
check(file_exists(lock_file($directory, 'job')), 'in the store of the environment');
$program = new Program(latch_command('status', 'job'), [], ['LATCH_STORE' => '']);
check_same("exit 0: free\n|", $program->let_go()->all(), 'an empty LATCH_STORE is none');
echo "done\n";

function mb_len(string $line): int
{
    return preg_match_all('/./su', $line);
}
--EXPECT--
done
