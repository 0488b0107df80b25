--TEST--
Versions, throttles and count-downs in files: of processes that contend and are killed, one alone is the last, or the newest
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\Store\{FlockStore, StoreFactory};
use Latch\SyncFactory;

const GROUPS = 40, MEMBERS = ['a', 'b', 'c'], KILLS = 25, WORKERS = 4;

$directory = temporary_directory();
$log = "$directory/log";
touch($log);

/** Appends a line, all at once. */
$tell = fn (string $line) => file_put_contents($log, "$line\n", FILE_APPEND);

/** What was told after the word, with the number of times. */
$told = fn (string $word) => array_count_values(array_map(
    fn (string $line) => substr($line, strlen($word) + 1),
    array_filter(file($log, FILE_IGNORE_NEW_LINES), fn (string $line) => str_starts_with($line, "$word "))));

$factory = new SyncFactory(StoreFactory::createStore("flock://$directory/store"));
for ($group = 0; $group < GROUPS; $group++) {
    $factory->createCountDown("group $group")->open(MEMBERS, "payload $group");
}

/* Each worker goes on where it likes; a part is delivered again and again. */
$work = function () use ($directory, $tell) {
    $factory = new SyncFactory(new FlockStore("$directory/store"));
    $seen = 0;
    for (;;) {
        $group = mt_rand(0, GROUPS - 1);
        $member = MEMBERS[mt_rand(0, 2)];
        $arrival = $factory->createCountDown("group $group")->arrive($member, claim: 3600.0);
        $tell("arrived $group $member");
        if ($arrival->payload !== null) {
            check_same("payload $group", $arrival->payload, 'the payload');
            $tell("last $group");
            $factory->createCountDown("group $group")->done();
            $tell("done $group");
        }
        $version = $factory->createVersion('v');
        $newest = (int) $version->get();
        check($newest >= $seen, "the version went back from $seen to $newest");
        $seen = $newest + mt_rand(0, 2);
        if ($version->advance($seen)) {
            $tell("newest $seen");
        }
        if ($factory->createThrottle('t', 5, 31536000.0, 5)->acquire()) {
            $tell('slot taken');
        }
    }
};
$start = function () use ($work): int {
    $pid = pcntl_fork();
    if ($pid === 0) {
        mt_srand(getmypid());
        $work();
    }
    return $pid;
};
$workers = [];
for ($at = 0; $at < WORKERS; $at++) {
    $workers[] = $start();
}
$lines = fn () => substr_count(file_get_contents($log), "\n");
for ($kill = 0; $kill < KILLS; $kill++) {
    $before = $lines();
    wait_until(fn () => $lines() > $before + 20, 'the workers go on');
    usleep(mt_rand(0, 2000)); // any moment
    $at = mt_rand(0, WORKERS - 1);
    posix_kill($workers[$at], SIGKILL);
    pcntl_waitpid($workers[$at], $status);
    check(pcntl_wifsignaled($status), 'a worker has ended by itself');
    $workers[$at] = $start();
}
wait_until(fn () => count($told('arrived')) === 3 * GROUPS, 'all parts are delivered');
foreach ($workers as $pid) {
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}

$last = $told('last');
$claimed = 0;
for ($group = 0; $group < GROUPS; $group++) {
    $known = $factory->createCountDown("group $group")->inspect();
    check_same(0, $known['left'], "group $group: all have arrived");
    check(($last[$group] ?? 0) <= 1, "group $group: more than one was the last");
    check($known['state'] === 'done' || $known['claimedFor'] > 0, "group $group: nobody was the last");
    check($known['state'] === 'done' || !isset($told('done')[$group]), "group $group: done is done");
    $claimed += $known['state'] === 'done' ? 0 : 1;
}
check($claimed <= KILLS + WORKERS, 'only killed processes leave a claim');
$newest = $told('newest');
check_same([1], array_values(array_unique($newest)), 'each version was the newest once');
check((int) $factory->createVersion('v')->get() >= max(array_keys($newest)), 'the newest is known');
check(($told('slot')['taken'] ?? 0) <= 5, 'five slots');
check_same(false, $factory->createThrottle('t', 5, 31536000.0, 5)->acquire(), 'and no more');

/* What is left: a file and a lock for each, and what killed processes had begun. */
$files = array_diff(scandir("$directory/store"), ['.', '..']);
check_same(GROUPS + 2, count(preg_grep('~^sl\..+\.state$~', $files)), 'records');
check_same(GROUPS + 2, count(preg_grep('~^sf\.sl\..+\.lock$~', $files)), 'locks');
check_same([], preg_grep('~^sl\.[A-Za-z0-9._+-]+\.state(\.new)?$|^sf\.sl\..+\.lock$~', $files, PREG_GREP_INVERT), 'nothing else');
echo "done\n";
?>
--EXPECT--
done
