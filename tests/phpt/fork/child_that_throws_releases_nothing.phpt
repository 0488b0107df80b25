--TEST--
A forked child with an uncaught exception never releases its parent's locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    throw new RuntimeException('uncaught');
}, 'exit 255');
echo "done\n";
--EXPECT--
done
