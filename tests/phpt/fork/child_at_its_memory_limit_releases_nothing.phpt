--TEST--
A forked child at its memory limit never releases its parent's locks
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') {
    die('skip there is no memory limit without the memory manager');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_fork.inc';

prove_child_releases_nothing(function () {
    ini_set('memory_limit', '16M');
    str_repeat('x', 1 << 26);
}, 'exit 255');
echo "done\n";
--EXPECT--
done
