--TEST--
MysqlStore on a PDO object: what does not fit is refused; what fails is told with PDO's exception
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';

$ground = Ground::mysql();
prove_connection_is_checked($ground);
prove_pdo_trouble($ground);
echo "done\n";
--EXPECT--
done
