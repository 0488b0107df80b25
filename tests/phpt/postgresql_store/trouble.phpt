--TEST--
PostgreSqlStore: who may not log in, or loses the session, is told so, without the password; waits outlive a restart
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

prove_trouble(Ground::postgresql(), [
    'password' => '/^LockAcquiringException: .* <- LockStorageException: Failed to store the "r" lock: '
        . 'cannot connect to PostgreSQL at ADDRESS: .*authentication failed/s',
    'database' => '/cannot connect to PostgreSQL at ADDRESS: .*does not exist/s',
]);
echo "done\n";
--EXPECT--
done
