--TEST--
latch run: the command's arguments, streams, environment, exit code or signal are what they would be without latch
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

$directory = temporary_directory();
$run = ['run', "--store=flock://$directory", 'job', '--'];

foreach ([0, 1, 64, 75, 126, 127, 200, 255] as $code) {
    check_same("exit $code: |", latch_to_end(...$run, ...['sh', '-c', "exit $code"]), "exit $code");
}
foreach ([SIGHUP, SIGTERM, SIGKILL, SIGUSR1, SIGPIPE, SIGALRM] as $signal) {
    check_same('exit ' . (128 + $signal) . ': |', latch_to_end(...$run, ...['sh', '-c', "kill -$signal \$\$"]), "signal $signal");
}
// a shell that runs latch in a loop must see it, to break the loop off, and says 130
check_same('signal ' . SIGINT . ': |', latch_to_end(...$run, ...['sh', '-c', 'kill -INT $$']), 'SIGINT');
check_same('exit ' . (128 + SIGKILL) . ': |', latch_to_end(...$run, ...['sh', '-c', 'kill -KILL $$']), 'SIGKILL');
check(is_free($directory, 'job'), 'free after all that');

$odd = ['', ' ', '$HOME', '*', "a\nb", '"', "'", '\\', '--', '-x', '--store=nonsense', "\xff\xfe", 'ü', ';ls'];
$program = new Program(latch_command(...$run, ...['printf', '[%s]', ...$odd]));
check_same('exit 0: [' . implode('][', $odd) . ']|', $program->let_go()->all(), 'odd arguments');

$program = latch(...$run, ...['sh', '-c', 'cat; echo error >&2']);
$program->say("input\n\0\xff");
check_same("exit 0: input\n\0\xff|error\n", $program->let_go()->all(), 'the streams');

$program = new Program(latch_command(...$run, ...['/usr/bin/env']), [], ['A' => 'b', 'LATCH_STORE' => 'x', 'PATH' => '/bin']);
check_same("exit 0: A=b\nLATCH_STORE=x\nPATH=/bin\n|", $program->let_go()->all(), 'the environment');

$working_directory = getcwd();
check_same("exit 0: $working_directory\n|", latch_to_end(...$run, ...['pwd']), 'the working directory');

// what cannot be executed, and where commands are looked for
$bin = temporary_directory();
mkdir("$bin/first/tool", 0755, true);
mkdir("$bin/second");
file_put_contents("$bin/second/tool", "echo a script without a first line: \$1\n");
file_put_contents("$bin/second/forbidden", "#!/bin/sh\n");
file_put_contents("$bin/second/lost", "#!$bin/interpreter\n");
chmod("$bin/second/tool", 0755);
chmod("$bin/second/lost", 0755);
// a sanitizer cannot tell what a fork has left of latch's thread from leaks, and is told not to try
$in_path = fn (string ...$command) => (new Program(
    latch_command(...$run, ...$command),
    [],
    ['PATH' => "$bin/nowhere:$bin/first:$bin/second:$bin/second/tool", 'ASAN_OPTIONS' => (string) getenv('ASAN_OPTIONS')]
))->let_go()->all();
check_same("exit 0: a script without a first line: x\n|", $in_path('tool', 'x'), 'a script');
check_same("exit 0: a script without a first line: x\n|", $in_path("$bin/second/tool", 'x'), 'a script by its path');
check_same("exit 126: |latch: the command \"forbidden\" cannot be executed: Permission denied\n", $in_path('forbidden'), 'not executable');
check_same("exit 126: |latch: the command \"/\" cannot be executed: Permission denied\n", $in_path('/'), 'a directory');
check_same("exit 127: |latch: the command \"nowhere\" was not found\n", $in_path('nowhere'), 'missing');
check_same("exit 127: |latch: the command \"$bin/nowhere\" was not found\n", $in_path("$bin/nowhere"), 'missing, by its path');
check_same("exit 127: |latch: the command \"\" was not found\n", $in_path(''), 'no name');
check_same("exit 127: |latch: the command \"lost\" was not found\n", $in_path('lost'), 'a script whose interpreter is missing');
check(is_free($directory, 'job'), 'free after all that');
echo "done\n";
--EXPECT--
done
