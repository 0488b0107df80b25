--TEST--
MysqlStore: a forked child leaves its parent's session and locks alone, and has a session of its own
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sql.inc';

prove_child_leaves_session(Ground::mysql());
echo "done\n";
--EXPECT--
done
