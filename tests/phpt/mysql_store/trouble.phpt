--TEST--
MysqlStore: who may not log in, or loses the session, is told so, without the password; waits outlive a restart
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

prove_trouble(Ground::mysql(), [
    'password' => '/^LockAcquiringException: .* <- LockStorageException: Failed to store the "r" lock: '
        . 'cannot connect to MySQL at ADDRESS: .*[Aa]ccess denied/s',
    'database' => '/cannot connect to MySQL at ADDRESS: .*(Unknown database|[Aa]ccess denied|refused)/s',
]);
echo "done\n";
--EXPECT--
done
