--TEST--
A lock in a static property or a global is released at the script's end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

class Registry
{
    public static array $locks = [];
}

prove_released(function ($take) {
    Registry::$locks = $take();
    return 0;
}, 'exit 0', null, 'static property');

prove_released(function ($take) {
    $GLOBALS['locks'] = $take();
    return 0;
}, 'exit 0', null, 'global');

prove_released(function ($take) {
    $function = function () use ($take) {
        static $locks;
        $locks = $take();
    };
    $function();
    return 0;
}, 'exit 0', null, 'static variable');

/* With a reference from outside: the destructor of another object uses it last. */
prove_released(function ($take) {
    Registry::$locks = [...$take(), new class {
        public function __destruct()
        {
            foreach (Registry::$locks as $lock) {
                if ($lock instanceof Latch\Lock) {
                    $lock->isAcquired();
                }
            }
        }
    }];
    return 0;
}, 'exit 0', null, 'used by a destructor');
echo "done\n";
--EXPECT--
done
