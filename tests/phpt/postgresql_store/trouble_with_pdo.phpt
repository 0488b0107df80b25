--TEST--
PostgreSqlStore on a PDO object: what does not fit is refused; what fails is told with PDO's exception
--EXTENSIONS--
pdo
pdo_pgsql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';

$ground = Ground::postgresql();
prove_connection_is_checked($ground);
prove_pdo_trouble($ground);
echo "done\n";
--EXPECT--
done
