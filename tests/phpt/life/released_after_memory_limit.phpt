--TEST--
Running into the memory limit releases locks
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') {
    die('skip there is no memory limit without the memory manager');
}
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

class Registry
{
    public static array $locks = [];
    public static array $garbage = [];
}

function eat_at_once(): void
{
    Registry::$garbage[] = str_repeat('x', 1 << 26);
}

/* Leaves nothing free, as a leaking program does; then little is left for the release too. */
function eat_bit_by_bit(): void
{
    while (true) {
        Registry::$garbage[] = [count(Registry::$garbage)];
    }
}

foreach (['eat_at_once', 'eat_bit_by_bit'] as $eat) {
    $places = [
        'local' => function ($take) use ($eat) {
            $locks = $take();
            $eat();
        },
        'static property' => function ($take) use ($eat) {
            Registry::$locks = $take();
            $eat();
        },
        'global' => function ($take) use ($eat) {
            $GLOBALS['locks'] = $take();
            $eat();
        },
        'inside synchronized()' => function ($take) use ($eat) {
            [$file, $php] = $take->make();
            $file->synchronized(fn () => $php->synchronized(function () use ($take, $eat) {
                $take->announce();
                $eat();
            }));
        },
    ];
    foreach ($places as $place => $body) {
        prove_released(function ($take) use ($body) {
            ini_set('memory_limit', '16M');
            register_shutdown_function(function () {
                $error = error_get_last();
                if (!str_starts_with($error['message'] ?? '', 'Allowed memory size of 16777216 bytes')) {
                    echo 'BROKEN: died of ', $error['message'] ?? 'nothing', "\n";
                }
                // the values of the leak go first, as they do not when the test process says them
                Registry::$garbage = [];
            });
            return $body($take);
        }, 'exit 255', null, "$eat, $place");
    }
}
echo "done\n";
--EXPECT--
done
