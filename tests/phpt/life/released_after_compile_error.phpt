--TEST--
A compile error releases locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

prove_released(function ($take) {
    $GLOBALS['locks'] = $take();
    eval('class Broken { public abstract function broken() { } }');
}, 'exit 255', null, 'global');
prove_released(function ($take) {
    $locks = $take();
    eval('class Broken { public abstract function broken() { } }');
}, 'exit 255', null, 'local');
echo "done\n";
--EXPECT--
done
