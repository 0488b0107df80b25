--TEST--
Versions, throttles and count-downs in files: rights, full disks, directories that are gone, and names
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock, SyncFactory};
use Latch\Store\{FlockStore, StoreFactory};

$directory = temporary_directory();
$hide = fn (string $text) => str_replace($directory, 'DIRECTORY', preg_replace('/\.[A-Za-z0-9_+]{22}\./', '.DIGEST.', $text));
$told = fn (callable $call) => $hide(outcome($call));
$files = fn (string $in) => array_values(array_diff(scandir($in), ['.', '..']));

/* Any name; a lock of that name is another thing. */
$factory = new SyncFactory(StoreFactory::createStore("flock+remove://$directory/names"));
$names = ['r', "nul\0byte", '../../r', str_repeat('x', 100000), str_repeat('x', 100001), "\xff\xfe", ' ', '.', "a\nb", 'ä', 'ö', 'r.state'];
foreach ($names as $at => $name) {
    $lock = new Lock(new Key($name), new FlockStore("$directory/names"));
    check($lock->acquire(), 'the lock');
    check_same([true, false, "$at"], [$factory->createVersion($name)->advance($at), $factory->createVersion($name)->advance($at),
        $factory->createVersion($name)->get()], "name $at");
    check($lock->isAcquired() && $factory->createCountDown($name)->open([1], 'p'), 'beside it');
}
foreach ($files("$directory/names") as $file) {
    check(preg_match('/^(sf|sl)\.[A-Za-z0-9._+-]+$/', $file) === 1 && strlen($file) < 110, "the file $file");
}
unset($lock);

/* Records that end leave no files. */
$factory = new SyncFactory(new FlockStore("$directory/short"));
$factory->createVersion('short', 0.02)->advance(5);
check_same(2, count($files("$directory/short")), 'a record and its lock');
wait_until(fn () => $factory->createVersion('short')->get() === null, 'the version is forgotten');
check_same([], $files("$directory/short"), 'and nothing is left of it');
check_same([false, false], [$factory->createVersion('none')->revert(1), $factory->createCountDown('none')->cancel()], 'nothing is there');
check_same([], $files("$directory/short"), 'nor of calls that did nothing');
check_same(true, $factory->createVersion('short')->advance(4), 'then any version may come');

/* In place of the record's file. */
$state = glob("$directory/short/sl.*.state")[0];
foreach ([
    'is a symbolic link; remove it' => fn () => symlink('/etc/passwd', $state),
    'is not a regular file; remove it' => fn () => posix_mkfifo($state, 0600),
    'is no record, is damaged, or is of another release; remove it' => fn () => file_put_contents($state, 'x'),
] as $problem => $make) {
    unlink($state);
    $make();
    foreach (['advance' => fn () => $factory->createVersion('short')->advance(9), 'read' => fn () => $factory->createVersion('short')->get()] as $action => $call) {
        check_same("Latch\Exception\LockStorageException: Failed to $action the \"short\" version: the file "
            . "\"DIRECTORY/short/sl.version-short.DIGEST.state\" $problem.", $told($call), $action);
    }
    check(is_link($state) || file_exists($state), 'it is left alone');
}
unlink($state);

/* A directory that is gone, and comes back. */
$version = $factory->createVersion('v');
$version->advance(1);
rename("$directory/short", "$directory/away");
foreach (['advance' => fn () => $version->advance(2), 'read' => fn () => $version->get()] as $action => $call) {
    check_same("Latch\Exception\LockStorageException: Failed to $action the \"v\" version: the file \"DIRECTORY/short\" "
        . 'cannot be found: No such file or directory.', $told($call), $action);
}
rename("$directory/away", "$directory/short");
check_same(['1', true], [$version->get(), $version->advance(2)], 'goes on');

/* A full disk: the record is as it was. */
$script = <<<'PHP'
$factory = new Latch\SyncFactory(new Latch\Store\FlockStore($argv[1]));
$version = $factory->createVersion('v');
foreach ([fn () => $version->advance(str_repeat('9', 4000)), fn () => $version->get(), fn () => $version->advance(3)] as $call) {
    try {
        var_dump($call());
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
PHP;
$command = implode(' ', array_map('escapeshellarg', php_command('-r', $script, '--', "$directory/short")));
$output = shell_exec("trap '' XFSZ; ulimit -f 1; exec $command");
check_same("Latch\Exception\LockStorageException: Failed to advance the \"v\" version: the file "
    . "\"DIRECTORY/short/sl.version-v.DIGEST.state\" cannot be written: File too large.\nstring(1) \"2\"\nbool(true)\n",
    $hide($output), 'a full disk');
check_same('3', $version->get(), 'and then it is written');
check_same([], glob("$directory/short/*.new"), 'nothing is left over');
unset($version);

/* Without rights, as another user. */
if (posix_getuid() === 0) {
    mkdir("$directory/foreign", 0777);
    chmod("$directory/foreign", 0777);
    chmod($directory, 0755);
    $mine = (new SyncFactory(new FlockStore("$directory/foreign")))->createVersion('v');
    $mine->advance(1);
    $child = fork(function (ParentLine $parent) use ($directory, $told) {
        posix_setgid(65534);
        posix_setuid(65534);
        $version = (new SyncFactory(new FlockStore("$directory/foreign")))->createVersion('v');
        $parent->say($told(fn () => $version->advance(2)) . ', ' . $told(fn () => $version->get()));
        $parent->hear();
        $parent->say($told(fn () => $version->advance(4)));
        $parent->say($told(fn () => $version->get()));
        $parent->hear();
        $parent->say($told(fn () => $version->get()));
        return 0;
    });
    $child->hear_exactly("true, '2'");
    check_same(['2', true], [$mine->get(), $mine->advance(3)], 'who may write there shares it');
    chmod("$directory/foreign", 0755);
    $child->say('go');
    $child->hear_exactly('Latch\Exception\LockStorageException: Failed to advance the "v" version: the file '
        . '"DIRECTORY/foreign/sl.version-v.DIGEST.state" cannot be written: Permission denied.');
    $child->hear_exactly("'3'");
    check_same(['3', true, '5'], [$mine->get(), $mine->advance(5), $mine->get()], 'it is as it was');
    chmod("$directory/foreign", 01777); // as /tmp
    $child->say('go');
    $child->hear_exactly('Latch\Exception\LockStorageException: Failed to read the "v" version: the file '
        . '"DIRECTORY/foreign/sl.version-v.DIGEST.state" cannot be opened: Permission denied.');
    check_same('exit 0', $child->ending(), 'the ending');
    unset($child, $mine);
}

/* A signal handler that throws ends the wait for a writer that is stopped. */
$store = new FlockStore("$directory/stopped");
$version = (new SyncFactory($store))->createVersion('v');
$version->advance(1);
$lock = fopen(glob("$directory/stopped/*.lock")[0], 'r+');
flock($lock, LOCK_EX);
pcntl_async_signals(true);
pcntl_signal(SIGALRM, fn () => throw new RuntimeException('enough'));
pcntl_alarm(1);
check_same('RuntimeException: enough', outcome(fn () => $version->advance(2)), 'the wait is ended');
check_same(['1', false], [$version->get(), $version->advance(1)], 'what changes nothing does not wait');
check(preg_match('~^Latch\\\\Exception\\\\LockStorageException: Failed to advance the "v" version: another process has had its file "[^"]+\.lock" '
    . 'locked for 10 s; is it stopped\?\.$~', $said = outcome(fn () => $version->advance(2))) === 1, $said);
flock($lock, LOCK_UN);
check_same([true, '2'], [$version->advance(2), $version->get()], 'then it goes on');
echo "done\n";
?>
--EXPECT--
done
