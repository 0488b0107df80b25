--TEST--
A forked child that is killed never releases its parent's locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    posix_kill(posix_getpid(), SIGKILL);
}, 'signal 9');
echo "done\n";
--EXPECT--
done
