--TEST--
A fatal error, which runs no destructors, releases locks, wherever they are kept
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

class Registry
{
    public static array $locks = [];
}

function die_of_it(): void
{
    // trigger_error(E_USER_ERROR) without its deprecation in 8.4
    @trigger_error('the end', E_USER_ERROR);
}

$places = [
    'local' => function ($take) {
        $locks = $take();
        die_of_it();
    },
    'static property' => function ($take) {
        Registry::$locks = $take();
        die_of_it();
    },
    'global' => function ($take) {
        $GLOBALS['locks'] = $take();
        die_of_it();
    },
    'one global each' => function ($take) {
        [$GLOBALS['file'], $GLOBALS['php']] = $take();
        die_of_it();
    },
    'cycle' => function ($take) {
        $node = new stdClass();
        $node->self = [$node, ...$take()];
        unset($node);
        die_of_it();
    },
    'closure' => function ($take) {
        $locks = $take();
        $GLOBALS['closure'] = function () use ($locks) {
        };
        unset($locks);
        die_of_it();
    },
    'generator' => function ($take) {
        $GLOBALS['generator'] = (function () use ($take) {
            $locks = $take();
            yield 1;
        })();
        $GLOBALS['generator']->current();
        die_of_it();
    },
    'suspended fiber' => function ($take) {
        $GLOBALS['fiber'] = new Fiber(function () use ($take) {
            $locks = $take();
            Fiber::suspend();
        });
        $GLOBALS['fiber']->start();
        die_of_it();
    },
    'running fiber' => function ($take) {
        $GLOBALS['fiber'] = new Fiber(function () use ($take) {
            $locks = $take();
            die_of_it();
        });
        $GLOBALS['fiber']->start();
    },
    'inside synchronized()' => function ($take) {
        [$file, $php] = $take->make();
        $file->synchronized(fn () => $php->synchronized(function () use ($take) {
            $take->announce();
            die_of_it();
        }));
    },
    'in a destructor' => function ($take) {
        new class ($take()) {
            public function __construct(public array $locks)
            {
            }

            public function __destruct()
            {
                die_of_it();
            }
        };
    },
    'freed in a shutdown function' => function ($take) {
        $GLOBALS['locks'] = $take();
        register_shutdown_function(function () {
            unset($GLOBALS['locks']);
        });
        die_of_it();
    },
    'taken in a shutdown function' => function ($take) {
        register_shutdown_function(function () use ($take) {
            $GLOBALS['locks'] = $take();
            die_of_it();
        });
        return 0;
    },
];
foreach ($places as $place => $body) {
    prove_released($body, 'exit 255', $place === 'taken in a shutdown function' ? null : 'the end', $place);
}
echo "done\n";
--EXPECT--
done
