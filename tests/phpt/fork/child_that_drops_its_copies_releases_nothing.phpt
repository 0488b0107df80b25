--TEST--
A forked child that unsets, collects and overwrites never releases its parent's locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    ParentsLocks::$locks = [];
    foreach (array_keys($GLOBALS) as $name) {
        $GLOBALS[$name] = null;
    }
    gc_collect_cycles();
    return 0;
}, 'exit 0');
echo "done\n";
--EXPECT--
done
