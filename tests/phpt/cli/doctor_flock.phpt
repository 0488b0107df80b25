--TEST--
latch doctor: of a directory of lock files it says what is wrong there, and leaves nothing in it
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
foreach (['flock', 'flock+remove'] as $scheme) {
    $found = (new DoctorReport('well', ["--store=$scheme://$directory"]))->has_no_others()
        ->has('ok', "$scheme://$directory", 'FlockStore (native) locks: acquire ');
    check(!isset($found['connect_ms']) && $found['acquire_ms'] > 0, 'nothing is connected');
}
check_same(['.', '..'], scandir($directory), 'no file is left');
(new DoctorReport('nothing is said of a store', []))->has('ok', 'flock (no --store, LATCH_STORE or LOCK_DSN)', 'native');

// it is not there yet
(new DoctorReport('missing', ["--store=flock://$directory/new/locks"]))->has_no_others()
    ->has('note', "flock://$directory/new/locks", 'does not exist yet: the first lock creates it');
check_same(['.', '..'], scandir($directory), 'and it is not made');

// everybody may remove the files of everybody
chmod($directory, 0777);
$report = new DoctorReport('open to everybody', ["--store=flock://$directory"]);
$report->has_no_others('warning')->has('warning', "flock://$directory", 'without the sticky bit', "chmod +t $directory");
chmod($directory, 01777);
(new DoctorReport('sticky', ["--store=flock://$directory"]))->has_no_others();
chmod($directory, 0755);

// a file in its place
touch("$directory/file");
foreach (['file', 'file/locks'] as $path) {
    (new DoctorReport($path, ["--store=flock://$directory/$path"]))->has_no_others('fault')
        ->has('fault', "flock://$directory/$path", "$directory/file is no directory", 'name another directory');
}

// what is not writable: not even for root, when that has not the right to override
mkdir("$directory/closed", 0555);
$where = "flock://$directory/closed";
$command = latch_command('doctor', "--store=$where", "--store=$where/locks", "--store=flock://$directory");
if (posix_geteuid() === 0) {
    chown("$directory/closed", 65534);
    array_unshift($command, 'setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-dac_override,-dac_read_search', '--');
}
$said = (new Program($command))->let_go()->all();
check(str_starts_with($said, 'exit 1: ok       php: PHP ' . PHP_VERSION), "not writable: $said");
foreach (["$where:", "$where/locks:"] as $subject) {
    check(preg_match('~^fault    ' . preg_quote($subject) . " $directory/closed is not writable for user \S+\n"
        . ' +do: let user \S+ write there \(chown, chmod\), or name another directory$~m', $said) === 1, "not writable: $said");
}
check(str_contains($said, "\nok       flock://$directory: Latch\\Store\\FlockStore (native) locks: "), "the other one is well: $said");
check(str_ends_with($said, "\n2 faults, 0 warnings\n|"), "the sum: $said");

// the type of a file system, for those of networks
require __DIR__ . '/../../../bin/latch-doctor-stores.inc';
foreach (['/proc/self' => 'proc', '/proc' => 'proc'] as $path => $type) {
    check_same($type, Latch\CommandLine\Doctor\fileSystem($path), $path);
}
check(!in_array(Latch\CommandLine\Doctor\fileSystem('/procession'), [null, 'proc'], true), 'names that begin alike');
echo "done\n";
--EXPECT--
done
