--TEST--
MysqlStore on a PDO object: what does not fit is refused; what fails is told with PDO's exception
--SKIPIF--
<?php
if (getenv('LATCH_VALGRIND')) {
    die('skip the same code is run by other tests of these stores, and it takes long there');
}
?>
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
