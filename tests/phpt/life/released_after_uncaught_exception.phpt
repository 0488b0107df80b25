--TEST--
An uncaught exception releases locks, wherever they are kept
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

class Registry
{
    public static array $locks = [];
}

class WithLocks extends RuntimeException
{
    public array $locks = [];
}

$places = [
    'local' => function ($take) {
        $locks = $take();
        throw new RuntimeException('nobody catches this');
    },
    'static property' => function ($take) {
        Registry::$locks = $take();
        throw new RuntimeException('nobody catches this');
    },
    'global' => function ($take) {
        $GLOBALS['locks'] = $take();
        throw new RuntimeException('nobody catches this');
    },
    'in the exception' => function ($take) {
        $e = new WithLocks('nobody catches this');
        $e->locks = $take();
        throw $e;
    },
    'in an argument of the trace' => function ($take) {
        (function ($locks) {
            throw new RuntimeException('nobody catches this');
        })($take());
    },
    'inside synchronized()' => function ($take) {
        [$file, $php] = $take->make();
        $file->synchronized(fn () => $php->synchronized(function () use ($take) {
            $take->announce();
            throw new RuntimeException('nobody catches this');
        }));
    },
];
foreach ($places as $place => $body) {
    prove_released($body, 'exit 255', null, $place);
    prove_released(function ($take) use ($body) {
        set_exception_handler(fn (Throwable $e) => exit(7));
        return $body($take);
    }, 'exit 7', null, "$place, with exception handler");
}
echo "done\n";
--EXPECT--
done
