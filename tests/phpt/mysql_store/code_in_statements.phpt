--TEST--
MysqlStore on a PDO object: PHP code that runs with a statement may throw, exit and lock, and nothing is leaked
--EXTENSIONS--
mysqlnd
pdo
pdo_mysql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';

prove_code_in_statements(Ground::mysql());
--EXPECT--
done
