--TEST--
A release that fails during shutdown only warns, and other destructors still run
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};

class Others
{
    public static array $kept = [];

    public function __construct(private ParentLine $parent, private string $name)
    {
    }

    public function __destruct()
    {
        $this->parent->say("destructor of $this->name");
    }
}

$failures = [
    'exception' => fn () => throw new RuntimeException('the store fails'),
    'Error' => fn () => throw new TypeError('the store fails'),
    'LockReleasingException' => fn () => throw new Latch\Exception\LockReleasingException('the store fails'),
    'trigger_error' => fn () => trigger_error('the store fails', E_USER_WARNING),
];
foreach (['exists', 'delete'] as $step) {
    foreach ($failures as $failure => $fail) {
        foreach (['no error handler', 'throwing error handler'] as $handler) {
            $case = "$failure in $step, $handler";
            $store = new RecordingStore(temporary_directory());
            $child = fork(function (ParentLine $parent) use ($store, $step, $fail, $handler) {
                $store->before = fn (string $call) => $call === $step ? $fail() : null;
                set_error_handler(function (int $level, string $message) use ($parent, $handler) {
                    if ($handler !== 'no error handler') {
                        throw new ErrorException($message);
                    }
                    $parent->say("warning $level");
                    return true;
                });
                foreach (['first', 'second'] as $name) {
                    Others::$kept[] = new Others($parent, "before the $name");
                    Others::$kept[] = $lock = new Lock(new Key($name), $store);
                    $lock->acquire();
                }
                Others::$kept[] = new Others($parent, 'the last');
                $lock = null;
            });
            $said = [];
            while (($line = $child->hear()) !== null) {
                $said[] = $line;
            }
            check_same('exit 0', $child->ending(), "$case: the ending");
            foreach (['before the first', 'before the second', 'the last'] as $name) {
                check(count(array_keys($said, "destructor of $name")) === 1, "$case: the destructor of $name ran, of "
                    . implode(', ', $said));
            }
            if ($handler === 'no error handler' && $failure !== 'trigger_error') {
                check_same(2, count(preg_grep('/^warning/', $said)), "$case: one warning for each lock");
            }
            foreach (['first', 'second'] as $name) {
                $calls = array_count_values($store->calls());
                check(($calls["delete $name"] ?? 0) <= 1, "$case: delete() is called once");
            }
        }
    }
}
echo "done\n";
--EXPECT--
done
