--TEST--
RedisStore on a \Redis object: locks are released however a request ends, and not by a forked child
--EXTENSIONS--
igbinary
redis
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
prove_endings($server, fn () => phpredis($server));
echo "done\n";
--EXPECT--
done
