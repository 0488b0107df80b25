--TEST--
RedisStore: TLS, with the options of Symfony's connections, for taking, waiting, keeping alive and giving back
--SKIPIF--
<?php
require __DIR__ . '/../../utils/redis.inc';
Latch\Tests\RedisServer::skipBefore('7.0');
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';
require __DIR__ . '/../../utils/redis_tls.inc';

use Latch\{Key, Lock, LockFactory};
use Latch\Store\{RedisStore, StoreFactory};
use Latch\Tests\{RedisServer, RedisTls};

$server = new RedisServer();
$tls = new RedisTls($server);

function tls_lock(#[SensitiveParameter] string $dsn, float $ttl = TTL): Lock
{
    return new Lock(new Key('r'), new RedisStore($dsn), $ttl);
}

/* Locks as ever, and for those who come without TLS, too. */
foreach (['rediss', 'valkeys'] as $scheme) {
    $lock = tls_lock($tls->dsn(scheme: $scheme));
    check($lock->acquire(), "$scheme: acquired");
    check_same('a writer', holders($server), "$scheme: holders");
    check(!redis_lock($server)->acquire(), "$scheme: it excludes who comes without TLS");
    check(is_int($lock->getFencingToken()), "$scheme: fencing");
    $lock->release();
    check_same('nobody', holders($server), "$scheme: released");
}
check(StoreFactory::createStore($tls->dsn()) instanceof RedisStore, 'by the factory');

/* A wait, in a process that has inherited the connection. */
$lock = tls_lock($tls->dsn(), 60);
$lock->acquire();
$child = fork(function ($parent) use ($tls, $lock) {
    check(!$lock->isHeld(), 'the lock is the parent\'s');
    $parent->say('waits');
    $waiter = tls_lock($tls->dsn(), 60);
    check($waiter->acquire(true, PATIENCE), 'the child comes to its turn');
    $waiter->release();
});
$child->hear_exactly('waits');
wait_until(fn () => $server->command('EXISTS', 'latch:queue:r') === 1, 'it stands in the queue');
check($lock->isAcquired(), 'the connection is the parent\'s still');
$lock->release();
check_same('exit 0', $child->ending(), 'the child');

/* Kept alive, by a client with a certificate; and a forgotten passphrase is not asked for. */
$tls->demandCertificates();
$client = ['cafile' => '@ca.crt', 'local_cert' => '@client.crt', 'local_pk' => '@client-locked.key'];
$lock = tls_lock($tls->dsn($client + ['passphrase' => 'open sesame']));
$lock->keepAlive();
check($lock->acquire(), 'with a certificate');
wait_until_renewed($server);
wait_until_renewed($server);
$lock->release();

/* Who is not trusted, or does not trust; nothing secret is shown. */
ini_set('zend.exception_ignore_args', '0');
foreach ([
    'no certificate' => $tls->dsn(['cafile' => '@ca.crt', 'verify_depth' => '1']),
    'no passphrase' => $tls->dsn($client),
    'wrong passphrase' => $tls->dsn($client + ['passphrase' => 'SECRET']),
    'wrong CA' => $tls->dsn(['cafile' => '@stranger.crt', 'passphrase' => 'SECRET']),
    'wrong name' => $tls->dsn(['cafile' => '@ca.crt', 'peer_name' => 'redis.example']),
    'no file' => $tls->dsn(['cafile' => '/nowhere']),
    'no TLS' => str_replace(":$tls->port", ":$server->port", $tls->dsn()) . '&timeout=0.1',
    'TLS' => "redis://127.0.0.1:$tls->port",
] as $case => $dsn) {
    $store = new RedisStore($dsn);
    try {
        (new Lock(new Key('r'), $store))->acquire();
        echo "BROKEN: $case\n";
    } catch (Exception $e) {
        $said = messages($e->getPrevious());
        echo "$case: ", preg_replace(['/.*at 127\.0\.0\.1:\d+:? /', "~$tls->directory/~"], '', $said), "\n";
        check(!str_contains($e . json_encode($e->getTrace()) . print_r($store, true), 'SECRET'), "$case: $e");
    }
}
check(!extension_loaded('openssl') || openssl_error_string() === false, 'what OpenSSL said is not left to others');
check_same('nobody', holders($server), 'in the end');

/* What cannot be. */
foreach (['redis://localhost?ssl[verify_peer]=0', 'rediss:///run/redis.sock', 'rediss://localhost?ssl[local_pk]=SECRET',
    'rediss://localhost?ssl[verify_peer]=SECRET'] as $dsn) {
    try {
        new RedisStore($dsn);
        echo "BROKEN: $dsn\n";
    } catch (Latch\Exception\InvalidArgumentException $e) {
        echo $e->getMessage(), "\n";
        check(!str_contains($e . print_r($e->getTrace(), true), 'SECRET'), $dsn);
    }
}
echo "done\n";
--EXPECTF--
no certificate: the server demands a certificate of ours, which "ssl[local_cert]" names.
no passphrase: the private key in "client-locked.key" (the option "ssl[local_pk]") cannot be used: %s; one that is encrypted needs "ssl[passphrase]".
wrong passphrase: the private key in "client-locked.key" (the option "ssl[local_pk]") cannot be used: %s; its passphrase may be another than "ssl[passphrase]".
wrong CA: the server's certificate cannot be trusted: %s; name the file with the certificate of its CA by "ssl[cafile]".
wrong name: the server's certificate is not for "redis.example"; if it is the right server, give the name in its certificate by "ssl[peer_name]".
no file: the option "ssl[cafile]" names "/nowhere", which is not usable: No such file or directory.
no TLS: within 0.1 s: the TLS handshake did not end, as with a server that speaks no TLS there.
TLS: the server closed the connection, without an answer to anything; if it expects TLS there, that is "rediss:".
Latch\Store\RedisStore::__construct(): Argument #1 ($redis) is not usable: invalid Redis DSN: the option "ssl" asks for TLS, which is to be had by "rediss:" or "valkeys:"
Latch\Store\RedisStore::__construct(): Argument #1 ($redis) is not usable: invalid Redis DSN: TLS is not spoken on a Unix socket, which is to be had by "redis:" or "valkey:"
Latch\Store\RedisStore::__construct(): Argument #1 ($redis) is not usable: invalid Redis DSN: the option "ssl[local_pk]" is the key of a certificate, which "ssl[local_cert]" names
Latch\Store\RedisStore::__construct(): Argument #1 ($redis) is not usable: invalid Redis DSN: the option "ssl[verify_peer]" is 0 or 1
done
