--TEST--
The second request of an FPM worker finds free what a first one left when it died
--SKIPIF--
<?php
if (getenv('LATCH_TEST_NO_FPM') === '1') {
    die('skip LATCH_TEST_NO_FPM=1: this PHP has no FPM');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_server.inc';

$server = new Fpm();
try {
    prove_released_between_requests($server);
} finally {
    $server->stop();
}
echo "done\n";
--EXPECT--
done
