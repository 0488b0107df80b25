--TEST--
RedisStore: DSNs and TTLs that cannot be meant are refused, no copies, and no credentials anywhere
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';

use Latch\Store\RedisStore;

foreach ([
    '', 'redis', 'redis:', 'redis://', 'http://localhost', 'localhost:6379', 'rediss:///run/redis.sock',
    'redis://localhost:0', 'redis://localhost:65536', 'redis://localhost/shop',
    'redis://localhost?nonsense=1', 'redis://localhost?Timeout=1', 'redis://localhost?timeout=soon',
    'redis://localhost?timeout=-1', 'redis://localhost?read_timeout=INF', "redis://local\0host",
    'redis://localhost/1?dbindex=2', 'redis:?host[localhost:1]&host[localhost:2]',
    'redis://localhost?redis_cluster=maybe', 'redis://localhost/1?redis_cluster=1', 'redis:///run/redis.sock?cluster=1',
    'redis://localhost?redis_cluster=1&sentinel=shop', 'redis://localhost?redis_cluster=1&prefix=shop{',
] as $dsn) {
    $outcome = outcome(fn () => new RedisStore($dsn));
    check(
        str_starts_with($outcome, 'Latch\Exception\InvalidArgumentException: Latch\Store\RedisStore::__construct():'
            . ' Argument #1 ($redis) is not usable: '),
        "$dsn: $outcome"
    );
}
echo outcome(fn () => new RedisStore('redis://localhost?nonsense=1')), "\n";
echo outcome(fn () => new RedisStore('redis://localhost/1?redis_cluster=1')), "\n";
foreach ([0, -1, -0.0, NAN, INF, -INF] as $ttl) {
    echo outcome(fn () => new RedisStore('redis://localhost', $ttl)), "\n";
}

/* Nothing is connected yet. */
$store = new RedisStore('redis://shop:SECRET@localhost:1?prefix=shop:');
echo outcome(fn () => $store->__construct('redis://localhost')), "\n";
echo outcome(fn () => clone $store), "\n";
echo outcome(fn () => serialize($store)), "\n";

/* Passwords with what has a meaning in a DSN, in right DSNs and in wrong ones. */
$said = print_r($store, true) . var_export((array) $store, true);
ob_start();
var_dump($store);
phpinfo(INFO_GENERAL | INFO_MODULES);
$said .= ob_get_clean();
foreach (str_split("?#/&%@:[]=+ \\\"'\t") as $mark) {
    foreach (["shop:SECRET{$mark}SECRET@", "SECRET{$mark}SECRET@", ":SECRET{$mark}SECRET@"] as $login) {
        foreach (['localhost', 'localhost:x', 'localhost?nonsense=1', '/run/redis.sock', ''] as $rest) {
            try {
                new RedisStore("redis://$login$rest");
            } catch (Throwable $e) {
                $said .= $e . json_encode($e->getTrace());
            }
        }
    }
    foreach (['auth=', 'auth[]=shop&auth[]=', 'auth[password]='] as $option) {
        try {
            new RedisStore("redis://localhost?{$option}SECRET{$mark}SECRET");
        } catch (Throwable $e) {
            $said .= $e . json_encode($e->getTrace());
        }
    }
}
$shown = strpos($said, 'SECRET');
check($shown === false, 'no password is shown: ' . substr($said, max(0, (int) $shown - 300), 400));
echo "done\n";
--EXPECT--
Latch\Exception\InvalidArgumentException: Latch\Store\RedisStore::__construct(): Argument #1 ($redis) is not usable: invalid Redis DSN: the option "nonsense" is unknown; known are auth, class, cluster, cluster_command_timeout, cluster_relay_context, dbindex, failover, host, lazy, peers, persistent, persistent_id, prefix, read_timeout, redis_cluster, redis_sentinel, retry_interval, sentinel, sentinel_master, ssl, tcp_keepalive, timeout
Latch\Exception\InvalidArgumentException: Latch\Store\RedisStore::__construct(): Argument #1 ($redis) is not usable: invalid Redis DSN: a cluster has no database but 0
Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got 0.
Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got -1.
Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got -0.
Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got NAN.
Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got INF.
Latch\Exception\InvalidTtlException: "Latch\Store\RedisStore::__construct()" expects a strictly positive TTL. Got -INF.
Error: Latch\Store\RedisStore is constructed already
Error: Trying to clone an uncloneable object of class Latch\Store\RedisStore
Exception: Serialization of 'Latch\Store\RedisStore' is not allowed
done
