--TEST--
After a fatal error delete() is called once for each lock, also when another one fails
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};

class Registry
{
    public static array $locks = [];
}

$failures = [
    'nothing' => fn () => null,
    'exception' => fn () => throw new RuntimeException('the store fails'),
    'Error' => fn () => throw new TypeError('the store fails'),
    'exit' => fn () => exit(1),
    'fatal error' => fn () => @trigger_error('the store dies', E_USER_ERROR),
    'drops the locks' => function () {
        Registry::$locks = [];
        $GLOBALS['locks'] = null;
        gc_collect_cycles();
    },
    'takes another lock' => function () {
        $lock = new Lock(new Key('another'), new Latch\Store\InMemoryStore());
        $lock->acquire();
    },
];
foreach (['static property', 'global'] as $place) {
    foreach ($failures as $failure => $fail) {
        $store = new RecordingStore(temporary_directory());
        $child = fork(function (ParentLine $parent) use ($store, $fail, $place) {
            $locks = [];
            foreach (['first', 'second', 'third'] as $name) {
                $locks[] = $lock = new Lock(new Key($name), $store, 60);
                $lock->acquire();
            }
            unset($lock);
            $store->before = fn (string $call, Key $key) => $call === 'delete' && (string) $key === 'second' ? $fail() : null;
            if ($place === 'static property') {
                Registry::$locks = $locks;
            } else {
                $GLOBALS['locks'] = $locks;
            }
            unset($locks);
            @trigger_error('the end', E_USER_ERROR);
        });
        check_same('died of: the end', $child->hear(), "$failure: last words");
        check_same($failure === 'exit' ? 'exit 1' : 'exit 255', $child->ending(), "$failure: the ending");
        foreach (['first', 'second', 'third'] as $name) {
            check_same(1, count(array_keys($store->calls(), "delete $name")), "$failure, $place: calls of delete() for the $name");
        }
        check(!$store->is_locked('first') && !$store->is_locked('third'), "$failure, $place: the others are released");
    }
}

/* The real fatal error is the one that is reported. */
$directory = temporary_directory();
file_put_contents("$directory/dying.php", '<?php
require ' . var_export(realpath(__DIR__ . '/../../utils/phpt.inc'), true) . ';
require ' . var_export(realpath(__DIR__ . '/../../utils/phpt_stores.inc'), true) . ';
$store = new RecordingStore(' . var_export($directory, true) . ');
$lock = new Latch\Lock(new Latch\Key("a"), $store);
$lock->acquire();
$store->before = fn ($call) => throw new RuntimeException("the store fails");
@trigger_error("the real one", E_USER_ERROR);
');
$process = proc_open(php_command("$directory/dying.php"), [1 => ['file', "$directory/out", 'w'], 2 => ['file', "$directory/err", 'w']], $pipes);
proc_close($process);
$said = file_get_contents("$directory/out") . file_get_contents("$directory/err");
check(substr_count($said, 'Fatal error') <= 1, "one fatal error alone: $said");
echo "done\n";
--EXPECT--
done
