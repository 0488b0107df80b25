--TEST--
A forked child with a fatal error never releases its parent's locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    @trigger_error('the end', E_USER_ERROR);
}, 'exit 255');
echo "done\n";
--EXPECT--
done
