--TEST--
A forked child that comes to its end never releases its parent's locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    return 0;
}, 'exit 0');
echo "done\n";
--EXPECT--
done
