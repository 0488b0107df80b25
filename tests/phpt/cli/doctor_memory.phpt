--TEST--
latch doctor: of a file of shared memory it says how full it is, and what is wrong with it, and makes none
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts many times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';

use Latch\{Key, Lock};
use Latch\Store\SharedMemoryStore;

$directory = temporary_directory();
chmod($directory, 0755);
$file = "$directory/locks";
$dsn = "shm://$file";

// it is not there yet
(new DoctorReport('missing', ["--store=$dsn?capacity=100"]))->has_no_others()->has('note', $dsn, "$file does not exist yet: the first lock creates it");
check_same(['.', '..'], scandir($directory), 'and it is not made');
(new DoctorReport('no directory', ["--store=shm://$directory/none/locks"]))->has_no_others('fault')
    ->has('fault', 'shm://', "$directory/none is no directory", "mkdir $directory/none");

// a file with a lock in it
$store = new SharedMemoryStore($file, 100, 0640);
$lock = new Lock(new Key('r'), $store);
$lock->acquire();
$report = (new DoctorReport('well', ["--store=$dsn"]))->has_no_others();
$found = $report->has('ok', $dsn, 'SharedMemoryStore (native) locks: acquire ');
check(!isset($found['connect_ms']) && $found['acquire_ms'] > 0, 'nothing is connected');
$found = $report->has('ok', $dsn, "$file: ");
check_same([filesize($file), 2, 64, 2048], [$found['bytes'] ?? 0, $found['processes'] ?? 0, $found['reserved'] ?? 0, $found['capacity'] ?? 0], 'this process, and the doctor');
check(str_contains($found['text'], 'mode 0640, of the user '), $found['text']);
check($lock->isHeld() && count($store->listHeld()) === 1, 'the lock is held, and no other is left');

// nearly full, of those that live
$child = fork(function (ParentLine $parent) use ($store) {
    $many = [];
    for ($at = 0; $at < 60 * 32; $at++) {
        $many[] = $another = new Lock(new Key("m$at"), $store);
        $another->acquire();
    }
    $parent->say('held');
    $parent->stay();
});
$child->hear_exactly('held');
(new DoctorReport('nearly full', ["--store=$dsn"]))->has_no_others('warning')->has('warning', $dsn, 'nearly full', 'larger capacity');
$child->kill();
$child->ending();
(new DoctorReport('and then not', ["--store=$dsn"]))->has_no_others();

// the directory
chmod($directory, 0777);
(new DoctorReport('open to everybody', ["--store=$dsn"]))->has_no_others('warning')->has('warning', $dsn, 'without the sticky bit', "chmod +t $directory");
chmod($directory, 0755);

// files that are not Latch's, or of another version, and wrong DSNs
file_put_contents("$directory/text", 'text');
(new DoctorReport('text', ["--store=shm://$directory/text"]))->has_no_others('fault')
    ->has('fault', 'shm://', 'is not one of Latch\'s shared memory', 'docs/stores.md');
$other = file_get_contents($file);
file_put_contents("$directory/other", substr_replace($other, pack('V', 7), 8, 4));
(new DoctorReport('version', ["--store=shm://$directory/other"]))->has_no_others('fault')
    ->has('fault', 'shm://', 'was made by another version of Latch', 'one version of Latch');
(new DoctorReport('option', ["--store=$dsn?capacity=0"]))->has_no_others('fault')->has('fault', $dsn, 'the capacity of shared memory', 'docs/stores.md');

// systemd-logind, which removes what users have in /dev/shm
require __DIR__ . '/../../../bin/latch-doctor-servers.inc';
require __DIR__ . '/../../../bin/latch-doctor-memory.inc';
$removes = fn (string $where, int $owner) => Latch\CommandLine\Doctor\SharedFile::isRemovedAtLogout($where, $owner, $directory);
check(!$removes('/dev/shm/latch-1000', 1000), 'without systemd');
mkdir("$directory/run/systemd/seats", 0755, true);
mkdir("$directory/etc/systemd/logind.conf.d", 0755, true);
check($removes('/dev/shm/latch-1000', 1000) && $removes('/dev/shm', 1000), 'with it');
check(!$removes('/dev/shm/latch-33', 33) && !$removes('/run/shop', 1000) && !$removes('/dev/shm2', 1000), 'not those of the system, nor elsewhere');
file_put_contents("$directory/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
check($removes('/dev/shm/latch-1000', 1000), 'a comment');
file_put_contents("$directory/etc/systemd/logind.conf.d/ipc.conf", "[Login]\nRemoveIPC=no\n");
check(!$removes('/dev/shm/latch-1000', 1000), 'switched off');
echo "done\n";
--EXPECT--
done
