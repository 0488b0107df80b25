--TEST--
RedisStore: a wait with a timeout ends in an exception where the server has told of no holder
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis.inc';
require __DIR__ . '/../../utils/phpt_outage.inc';

use Latch\{Key, Lock};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

$server = new RedisServer(['requirepass' => 'SECRET']);
$count = 0;
prove_outage(
    $server,
    function (string $name) use ($server, &$count): Lock {
        return new Lock(new Key($name), new RedisStore($server->dsn('?persistent_id=' . $count++)));
    },
    '/: Redis at ADDRESS did not answer in time\.$/',
    '/: cannot connect to Redis at ADDRESS in time\.$/',
);
echo "done\n";
--EXPECT--
done
