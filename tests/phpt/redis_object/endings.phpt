--TEST--
RedisStore on a client object: locks are released however a request ends, and not by a forked child
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_redis_object.inc';
require __DIR__ . '/../../utils/php_client.inc';

use Latch\Tests\{PhpClient, RedisServer};

$server = new RedisServer();
prove_endings($server, fn () => new PhpClient($server));
echo "done\n";
--EXPECT--
done
