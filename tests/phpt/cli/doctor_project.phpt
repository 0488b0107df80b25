--TEST--
latch doctor: what does not go with the Symfony that an application has is said, as a warning or a note
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

/** Composer's folder of an application that has this release. */
function vendor(string $version, string $package = 'symfony/lock'): string
{
    global $directory;
    $vendor = "$directory/$version/vendor";
    @mkdir("$vendor/composer", 0755, true);
    $installed = ['packages' => [['name' => 'psr/log', 'version' => '3.0.2'], ['name' => $package, 'version' => $version]]];
    file_put_contents("$vendor/composer/installed.json", json_encode($installed));
    return $vendor;
}

$semaphore = '--store=semaphore://' . bin2hex(random_bytes(6));
foreach (['v5.4.45' => 'md5', 'v6.2.8' => 'md5', 'v6.4.30' => 'xxh128', 'v7.4.0' => 'xxh128', 'v8.0.1' => 'xxh128', 'v8.1.0' => 'xxh64']
    as $version => $digest) {
    $vendor = vendor($version);
    $number = substr($version, 1);
    $report = new DoctorReport($version, [$semaphore, "--vendor=$vendor"], ["latch.semaphore_digest=$digest"]);
    $report->has_no_others()->has('ok', 'application', "symfony/lock $number in $vendor");
    $report->has('note', 'application', 'latch.symfony is off', 'latch.symfony = 1');
    $report->has('ok', 'semaphore://', 'SemaphoreStore (native) locks');

    $other = $digest === 'xxh64' ? 'xxh128' : 'xxh64';
    $text = "latch.semaphore_digest is $other, but processes on symfony/lock $number without Latch use $digest";
    (new DoctorReport("$version, $other", [$semaphore, "--vendor=$vendor"], ["latch.semaphore_digest=$other"]))
        ->has_no_others('warning')->has('warning', 'semaphores', $text, "latch.semaphore_digest = $digest");
    (new DoctorReport("$version, $other, flock", ["--store=flock://$directory", "--vendor=$vendor"], ["latch.semaphore_digest=$other"]))
        ->has_no_others()->has('note', 'semaphores', $text);
}

$vendor = vendor('v5.4.45');
$report = new DoctorReport('5.4, drop-in', ["--store=flock://$directory", "--vendor=$vendor"], ['latch.symfony=1']);
$report->has_no_others('warning')
    ->has('warning', 'application', 'latch.symfony = 1 is for symfony/lock 6.4 and later, and 5.4.45 is installed', 'update symfony/lock');
$report->has('ok', 'names', 'under Symfony\Component\Lock');

$report = new DoctorReport('7.4, drop-in', ["--store=flock+remove://$directory", '--vendor=' . vendor('v7.4.0')], ['latch.symfony=1']);
$report->has_no_others('warning')->lacks('latch.symfony is off')
    ->has('warning', 'flock+remove', 'do not notice a removed lock file', 'use flock until');
$report->has('ok', 'FlockStore', 'native, as Symfony\Component\Lock\Store\FlockStore and Latch\Store\FlockStore');
(new DoctorReport('8.2', ["--store=flock+remove://$directory", '--vendor=' . vendor('v8.2.0')], ['latch.semaphore_digest=xxh64']))
    ->has_no_others();

(new DoctorReport('without it', ["--store=flock://$directory", '--vendor=' . vendor('v9', 'symfony/console')]))
    ->has_no_others()->has('ok', 'application', 'no symfony/lock');

// semaphores have a package and a setting of their own
$store = "--store=flock://$directory";
$vendor = '--vendor=' . vendor('v7.4.1', 'symfony/semaphore');
$plain = '--vendor=' . vendor('v9', 'symfony/console');
$report = new DoctorReport('semaphores, off', [$store, $vendor]);
$report->has_no_others()->has('ok', 'application', "symfony/semaphore 7.4.1 in $directory/v7.4.1/vendor");
$report->has('note', 'application', 'latch.symfony_semaphore is off', 'latch.symfony_semaphore = 1');
$found = $report->has('ok', 'names', 'classes under Latch\Semaphore; Symfony\Component\Semaphore is Composer\'s');
check_same(false, $found['symfony_semaphore'], 'for programs');
$locks = preg_replace('/\D+/', '', $report->has('ok', 'names', 'classes under Latch; ')['text']);
$report = new DoctorReport('semaphores, on', [$store, $vendor], ['latch.symfony_semaphore=1']);
$report->has_no_others()->lacks('latch.symfony_semaphore is off', 'latch.symfony_semaphore = 0')
    ->has('ok', 'application', 'symfony/semaphore 7.4.1');
$found = $report->has('ok', 'names', 'latch.symfony_semaphore = 1: ');
check(preg_match('/: (\d+) classes under Symfony.Component.Semaphore, with aliases in Latch.Semaphore$/', $found['text'], $match) === 1 && $match[1] > 10, $found['text']);
check_same(true, $found['symfony_semaphore'], 'for programs');
check_same($locks, preg_replace('/\D+/', '', $report->has('ok', 'names', 'classes under Latch; ')['text']), 'classes of locks');
(new DoctorReport('no semaphores, off', [$store, $plain]))->has_no_others()->lacks('symfony/semaphore', 'latch.symfony_semaphore is off');
(new DoctorReport('no semaphores, on', [$store, $plain], ['latch.symfony_semaphore=1']))->has_no_others('warning')
    ->has('warning', 'application', 'no symfony/semaphore in', 'require symfony/semaphore');
(new DoctorReport('all of Symfony', [$store, '--vendor=' . vendor('v7.4.2', 'symfony/symfony')],
    ['latch.symfony_semaphore=1', 'latch.semaphore_digest=xxh128']))->has_no_others()->has('ok', 'application', 'symfony/semaphore 7.4.2');

// the nearest folder called "vendor"
mkdir("$directory/v7.4.0/src/Command", 0755, true);
$command = ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', "$directory/v7.4.0/src/Command", ...latch_command('doctor')];
$command = str_replace(LATCH, realpath(LATCH), $command);
$said = (new Program($command, [], ['PATH' => getenv('PATH')]))->let_go()->all();
check(str_starts_with($said, 'exit 0: ') && str_contains($said, "\nok       application: symfony/lock 7.4.0 in $directory/v7.4.0/vendor\n"), $said);
echo "done\n";
--EXPECT--
done
