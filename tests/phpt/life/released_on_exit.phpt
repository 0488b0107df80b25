--TEST--
exit() releases locks, wherever they are kept
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

class Registry
{
    public static array $locks = [];
}

function leave_from_deep_within(int $depth): void
{
    $depth > 0 ? leave_from_deep_within($depth - 1) : exit(3);
}

prove_released(function ($take) {
    $locks = $take();
    exit(3);
}, 'exit 3', null, 'local');
prove_released(function ($take) {
    $locks = $take();
    try {
        leave_from_deep_within(10);
    } finally {
        exit(4);
    }
}, 'exit 3', null, 'deep');
prove_released(function ($take) {
    Registry::$locks = $take();
    exit(3);
}, 'exit 3', null, 'static property');
prove_released(function ($take) {
    $GLOBALS['locks'] = $take();
    exit(3);
}, 'exit 3', null, 'global');
prove_released(function ($take) {
    register_shutdown_function(function () use ($take) {
        $locks = $take();
        exit(5);
    });
    return 0;
}, 'exit 5', null, 'in a shutdown function');
echo "done\n";
--EXPECT--
done
