--TEST--
PostgreSqlStore on a PDO object: PHP code that runs with a statement may throw, exit and lock, and nothing is leaked
--EXTENSIONS--
pdo
pdo_pgsql
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_pdo.inc';

prove_code_in_statements(Ground::postgresql());
--EXPECT--
done
