--TEST--
A forked child that exits never releases its parent's locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    exit(3);
}, 'exit 3');
echo "done\n";
--EXPECT--
done
