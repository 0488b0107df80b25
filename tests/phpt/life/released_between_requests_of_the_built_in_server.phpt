--TEST--
The second request of the built-in server finds free what a first one left when it died
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';

$server = new BuiltInServer();
try {
    prove_released_between_requests($server);
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
