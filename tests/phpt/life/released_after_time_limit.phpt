--TEST--
Running into the time limit releases locks
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

class Registry
{
    public static array $locks = [];
}

$burn = function () {
    set_time_limit(1);
    while (true) {
        // a second of processor time
    }
};
$words = 'Maximum execution time of 1 second exceeded';

prove_released(function ($take) use ($burn) {
    Registry::$locks[] = $take();
    $burn();
}, 'exit 255', $words, 'static property');
prove_released(function ($take) use ($burn) {
    [$file, $php] = $take->make();
    $file->synchronized(fn () => $php->synchronized(function () use ($take, $burn) {
        $take->announce();
        $burn();
    }));
}, 'exit 255', $words, 'inside synchronized()');
echo "done\n";
--EXPECT--
done
