--TEST--
latch doctor: of a Redis server it says what is wrong there, and what to do, and nothing of passwords
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts many times here');
}
require __DIR__ . '/../../utils/redis.inc';
Latch\Tests\RedisServer::skipBefore('7.0');
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_doctor.inc';
require __DIR__ . '/../../utils/redis_cluster.inc';
require __DIR__ . '/../../utils/redis_sentinel.inc';
require __DIR__ . '/../../utils/redis_tls.inc';

use Latch\Tests\{RedisClusterServers, RedisServer, RedisTls, RedisTrio};

$server = new RedisServer();
$where = $server->dsn();

// all is well
$report = new DoctorReport('well', ["--store=$where/3?prefix=shop:"]);
$found = $report->has_no_others()->has('ok', "$where/3", "Latch\Store\RedisStore (native) locks, {$server->version()}: ");
check($found['connect_ms'] > 0 && $found['acquire_ms'] > 0 && $found['release_ms'] > 0, 'times are told');
check_same($server->version(), $found['server'], 'the version');
check($server->count('publish') > 0, 'that messages are permitted was tried');
$server->command('SELECT', '3');
check_same([], array_diff($server->command('KEYS', '*'), ['shop:latch:fencing']), 'no lock is left');
$server->command('SELECT', '0');
$report = new DoctorReport('by a socket', ["--store=redis://$server->directory/redis.sock"]);
$report->has_no_others()->has('ok', "redis://$server->directory/redis.sock", 'native');
$tls = new RedisTls($server);
$report = new DoctorReport('by TLS', ['--store=' . $tls->dsn()]);
$found = $report->has_no_others()->has('ok', "rediss://127.0.0.1:$tls->port", 'native');
check(!extension_loaded('openssl') || ($found['server'] ?? '') === $server->version(), 'the version, by TLS');
$report = new DoctorReport('not trusted', ["--store=rediss://127.0.0.1:$tls->port"]);
$report->has_no_others('fault')->has('fault', "rediss://127.0.0.1:$tls->port", 'cannot be trusted', 'docs/redis.md, "TLS"');
(new DoctorReport('drop-in', ["--store=$where"], ['latch.symfony=1']))->has_no_others()
    ->has('ok', $where, 'Symfony\Component\Lock\Store\RedisStore (native) locks');

// a user who may do everything but messages, and one who may run no scripts
foreach (['shop' => ['-publish'], 'shop2' => ['-subscribe'], 'shop3' => ['-pubsub'], 'shop4' => ['resetchannels']] as $user => $rules) {
    $server->command('ACL', 'SETUSER', $user, 'on', '>SECRET3', '~*', '&*', '+@all', ...$rules);
    $report = new DoctorReport("no messages: $rules[0]", ['--store=' . $server->dsn('', "$user:SECRET3@")]);
    $report->has_no_others('warning')->lacks('SECRET3')
        ->has('warning', $where, 'messages are not permitted: waiters poll every 5 to 100 ms (NOPERM', 'docs/redis.md');
    $report->has('ok', $where, 'native');
}
foreach ([['-eval', '-evalsha'], ['-zadd'], ['resetkeys', '~other']] as $rules) {
    $server->command('ACL', 'SETUSER', 'clerk', 'reset', 'on', '>SECRET4', '~*', '&*', '+@all', ...$rules);
    $report = new DoctorReport("not permitted: $rules[0]", ["--store=redis://clerk:SECRET4@127.0.0.1:$server->port"]);
    $report->has_no_others('fault')->lacks('SECRET4')->has('fault', $where, 'no lock can be acquired: ', 'give the user the rights that locks need');
}
$server->command('ACL', 'SETUSER', 'mute', 'on', '>SECRET5', '~*', '&*', '+@all', '-info');
$report = new DoctorReport('INFO is not permitted', ["--store=redis://mute:SECRET5@127.0.0.1:$server->port"]);
check_same(null, $report->has_no_others()->lacks('SECRET5')->has('ok', $where, 'native')['server'], 'no version');

// evictions
$server->command('CONFIG', 'SET', 'maxmemory', '100mb');
(new DoctorReport('full, without evictions', ["--store=$where"]))->has_no_others();
$server->command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
(new DoctorReport('evictions', ["--store=$where"]))->has_no_others('warning')
    ->has('warning', $where, 'maxmemory-policy is allkeys-lru', 'noeviction');

// a replica
$replica = new RedisServer(['replicaof' => "127.0.0.1 $server->port"]);
(new DoctorReport('a replica', ['--store=' . $replica->dsn()]))->has_no_others('fault')
    ->has('fault', $replica->dsn(), "this is a replica of 127.0.0.1:$server->port", 'name the master');
unset($replica);

// passwords: wrong, missing, right
$guarded = new RedisServer(['requirepass' => 'SECRET&?#/@']);
$place = "redis://127.0.0.1:$guarded->port";
foreach (['wrong' => ':SECRET2@', 'missing' => ''] as $case => $login) {
    $report = new DoctorReport("password: $case", ['--store=' . $guarded->dsn('', $login)]);
    $report->has_no_others('fault')->lacks('SECRET')
        ->has('fault', $place, 'no lock can be acquired: ', 'correct user and password in the DSN');
}
foreach (['in front' => $guarded->dsn(), 'as an option' => "$place?auth=" . rawurlencode('SECRET&?#/@'),
    'as two options' => "$place?auth[]=default&auth[]=" . rawurlencode('SECRET&?#/@')] as $case => $dsn) {
    $report = new DoctorReport("password: $case", [], [], ['LATCH_STORE' => $dsn]);
    check_same($server->version(), $report->has_no_others()->lacks('SECRET')->has('ok', "$place (LATCH_STORE)", 'native')['server'], $case);
}

// nobody is there
$guarded->stop();
$report = new DoctorReport('unreachable', ['--store=' . $guarded->dsn(), "--store=$where/1"]);
$report->has_no_others('fault', 'warning')->lacks('SECRET')
    ->has('fault', $place, "cannot connect to Redis at 127.0.0.1:$guarded->port: Connection refused", 'start the server');
$report->has('ok', "$where/1", 'native');

// a cluster that is named as one, all of it and with a server that is away
$cluster = new RedisClusterServers(3, false, ['requirepass' => 'SECRET9']);
$place = 'redis:…';
$report = new DoctorReport('a cluster', ['--store=' . $cluster->dsn()]);
$found = $report->has_no_others()->lacks('SECRET')->has('ok', $place, 'native');
check_same($server->version(), $found['server'], 'the version of one of them');
check_same([], preg_grep('/latch:\{[@-O]{4}\}:fencing$/', $cluster->keys(), PREG_GREP_INVERT), 'no lock is left in the cluster');
foreach (['shop' => ['-spublish'], 'shop2' => ['-ssubscribe'], 'shop3' => ['-pubsub'], 'shop4' => ['resetchannels']] as $user => $rules) {
    foreach ($cluster->masters as $master) {
        $master->command('ACL', 'SETUSER', $user, 'on', '>SECRET3', '~*', '&*', '+@all', ...$rules);
    }
    $report = new DoctorReport("no messages in a cluster: $rules[0]", ['--store=' . $cluster->dsn('', "$user:SECRET3@")]);
    $report->has_no_others('warning')->lacks('SECRET3')
        ->has('warning', $place, 'messages are not permitted: waiters poll every 5 to 100 ms (NOPERM', 'SPUBLISH, SSUBSCRIBE');
}
foreach ($cluster->masters as $master) {
    $master->command('ACL', 'SETUSER', 'waiter', 'on', '>SECRET3', '~*', 'resetchannels', '&latch:*', '+@all');
}
(new DoctorReport('the channels of the documentation', ['--store=' . $cluster->dsn('', 'waiter:SECRET3@')]))->has_no_others();
$report = new DoctorReport('a cluster without the option', ['--store=' . $cluster->masters[1]->dsn()]);
$report->has_no_others('fault')->lacks('SECRET')
    ->has('fault', $cluster->masters[1]->dsn('', ''), 'this is a server of a cluster (', '"redis_cluster=1"');
$cluster->masters[0]->stop();
$report = new DoctorReport('a cluster without one of its servers', ['--store=' . $cluster->dsn()]);
$report->lacks('SECRET')->has('warning', $place, "the server at 127.0.0.1:{$cluster->masters[0]->port} cannot be reached", 'start it');
wait_until(
    fn () => preg_match('/cluster_slots_ok:10923\r/', $cluster->masters[1]->command('CLUSTER', 'INFO')) === 1,
    'the others know that it is away',
);
(new DoctorReport('slots without a master', ['--store=' . $cluster->dsn()]))
    ->has('warning', $place, '5461 of 16384 slots have no working master', '--cluster check');
unset($cluster);

// one of an old release, as far as channels go; and one that is in none
$old = new RedisServer(['cluster-enabled' => 'yes', 'cluster-announce-ip' => '127.0.0.1', 'rename-command' => ['SSUBSCRIBE', '']]);
$report = new DoctorReport('a cluster without slots', ['--store=' . $old->dsn('?redis_cluster=1&timeout=1')]);
$report->has('fault', $old->dsn(), 'CLUSTERDOWN', 'redis-cli --cluster check');
$old->command('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
wait_until(fn () => str_contains($old->command('CLUSTER', 'INFO'), 'cluster_state:ok'), 'the cluster is up');
(new DoctorReport('an old cluster', ['--store=' . $old->dsn('?redis_cluster=1')]))->has_no_others('warning')
    ->has('warning', $old->dsn(), 'the cluster has no sharded channels', 'Redis 7');
$server->command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
(new DoctorReport('no cluster', ["--store=$where?redis_cluster=1"]))->has_no_others('warning')
    ->has('warning', $where, 'the server is in no cluster', 'leave out');

// Sentinels
$trio = new RedisTrio(['requirepass' => 'SECRET6'], 'SECRET7');
$report = new DoctorReport('under Sentinels', ['--store=' . $trio->dsn()]);
$found = $report->has_no_others()->lacks('SECRET')->has('ok', 'redis:…', 'native');
$report->has('note', 'redis:…', 'min-replicas-to-write is 0');
check_same($server->version(), $found['server'], 'the version of the master');
$trio->master()->command('CONFIG', 'SET', 'min-replicas-to-write', '1');
(new DoctorReport('with min-replicas-to-write', ['--store=' . $trio->dsn()]))->has_no_others()->has('ok', 'redis:…', 'native');
$place = '127.0.0.1:' . $trio->sentinels[1]->port;
$trio->sentinels[1]->stop();
$report = new DoctorReport('one is away', ['--store=' . $trio->dsn()]);
$report->has_no_others('warning')->has('warning', 'redis:…', "the Sentinel at $place cannot be reached", 'start it');
foreach (['no such name' => ['sentinel=my-master', 'sentinel=other', 'knows no master of that name', '"sentinel monitor"'],
    'a wrong password' => ['SECRET7', 'SECRET8', 'no Sentinel of ', '("auth")']] as $case => [$right, $wrong, $text, $remedy]) {
    $report = new DoctorReport($case, ['--store=' . str_replace($right, $wrong, $trio->dsn())]);
    $report->has_no_others('fault', 'warning', 'warning', 'warning')->lacks('SECRET')->has('fault', 'redis:…', $text, $remedy);
}
$dsn = "redis://127.0.0.1:{$trio->sentinels[0]->port}?auth=SECRET7";
(new DoctorReport('a Sentinel', ["--store=$dsn"]))->has_no_others('fault')->lacks('SECRET')
    ->has('fault', strtok($dsn, '?'), 'this is a Sentinel, which has no locks', 'sentinel=NAME');
echo "done\n";
--EXPECT--
done
