--TEST--
latch doctor: of a database server it says what is wrong there, and what to do, and nothing of passwords
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts many times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';
require __DIR__ . '/../../utils/phpt_sql.inc';

use Latch\Tests\PgBouncer;

foreach ([Ground::postgresql(), Ground::mysql()] as $ground) {
    $server = $ground->server;
    $name = $ground->name;
    $place = "{$ground->driver}+advisory:host=127.0.0.1;port=$server->port;dbname=latch";
    [$url] = explode('latch:', $server->url(), 2);
    $url .= "127.0.0.1:$server->port/latch";

    foreach ([$place => $server->dsn(), $url => $server->url()] as $shown => $dsn) {
        $report = new DoctorReport("$name: well", [], [], ['LOCK_DSN' => $dsn]);
        $found = $report->has_no_others()->lacks($server::PASSWORD)->has('ok', "$shown (LOCK_DSN)", '(native) locks');
        check($found['connect_ms'] > 0 && $found['acquire_ms'] > 0 && $found['release_ms'] > 0, "$name: times are told");
    }
    check_same(0, $server->held(), "$name: no lock is left");

    $report = new DoctorReport("$name: wrong password", ['--store=' . $server->dsn('', 'wrong-9753')]);
    $report->has_no_others('fault')->lacks('wrong-9753', $server::PASSWORD)
        ->has('fault', $place, "cannot connect to $name at 127.0.0.1:$server->port: ", 'correct user and password');
    $report = new DoctorReport("$name: no such option", ['--store=' . $server->dsn(';nonsense=1')]);
    $report->has_no_others('fault')->lacks($server::PASSWORD)->has('fault', $place, 'cannot be opened: ');

    if ($ground->driver === 'pgsql') {
        $pooler = new PgBouncer($server, 'session', 10);
        (new DoctorReport('a pooler of sessions', ['--store=' . $pooler->dsn()]))->has_no_others()->has('ok', "port=$pooler->port", 'native');
        foreach ([1, 5] as $size) {
            $pooler = new PgBouncer($server, 'transaction', $size);
            $report = new DoctorReport("a pooler of $size transactions", ['--store=' . $pooler->dsn()]);
            $report->has_no_others('fault')->lacks($server::PASSWORD)
                ->has('fault', "port=$pooler->port", 'is reached through a pooler that changes sessions', 'pool_mode = session');
        }
        unset($pooler);
    }

    $server->stop();
    $report = new DoctorReport("$name: unreachable", ['--store=' . $server->dsn()]);
    $report->has_no_others('fault')->lacks($server::PASSWORD)
        ->has('fault', $place, "cannot connect to $name at 127.0.0.1:$server->port: ", 'start the server');
    unset($ground, $server);
}
echo "done\n";
--EXPECT--
done
