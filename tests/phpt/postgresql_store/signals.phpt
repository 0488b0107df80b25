--TEST--
PostgreSqlStore: signal handlers run while a lock is waited for, may throw, and may use the very store
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

pcntl_async_signals(true);
$ground = Ground::postgresql();
prove_signals($ground, signaller($ground->server), $ground->store(...), 'DSN');
echo "done\n";
--EXPECT--
done
