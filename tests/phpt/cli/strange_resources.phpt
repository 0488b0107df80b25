--TEST--
latch run and status: any text is a resource but an empty one: with newlines, with a dash in front, long, not UTF-8
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
$store = "--store=flock://$directory";
foreach (["a\nb", '-', '--', '-job', '--store=x', '--help', 'ü', "\xff\xfe\x01", '../../etc', 'a b "c" \'d\'', '$(id)', str_repeat('long', 5000)] as $resource) {
    $run = new Program(latch_command('run', $store, '--', $resource, '--', 'sh', '-c', 'echo running; exec cat'));
    $run->await("running\n");
    $name = substr(var_export($resource, true), 0, 30);
    check(!is_free($directory, $resource), "$name is held");
    check_names_holder($run->pid, $resource, latch_to_end('run', $store, '--', $resource, '--', 'echo', 'no'), "$name is refused");
    check(str_starts_with(latch_to_end('status', $store, '--', $resource), 'exit 75: held, exclusive, by '), "status of $name");
    check_same('exit 0', $run->let_go()->ending(), $name);
    check_same("exit 0: free\n|", latch_to_end('status', $store, '--', $resource), "$name is free");
}
// where they cannot be mistaken for options no "--" is needed
foreach (['-', "a\nb"] as $resource) {
    check_same("exit 0: yes\n|", latch_to_end('run', $store, $resource, '--wait', '--', 'echo', 'yes'), "'$resource'");
}
// the command may have a "--" of its own
check_same("exit 0: -- a --\n|", latch_to_end('run', $store, 'job', '--', 'echo', '--', 'a', '--'), '"--" in the command');
echo "done\n";
--EXPECT--
done
