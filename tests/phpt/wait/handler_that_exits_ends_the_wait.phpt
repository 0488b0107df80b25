--TEST--
A handler that calls exit() ends the wait and the script, with nothing taken and a clean shutdown
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
foreach (ways_to_wait($directory) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits, 'free' => $free]) {
    foreach ([
        'acquire' => fn ($lock) => $lock->acquire(true),
        'acquireRead' => fn ($lock) => $lock->acquireRead(true),
        'synchronized' => fn ($lock) => $lock->synchronized(fn () => null),
    ] as $name => $call) {
        $holder = $hold();
        $child = fork(function (ParentLine $parent) use ($make, $call, $directory) {
            pcntl_async_signals(true);
            pcntl_signal(SIGTERM, fn () => exit(42));
            $held = new Lock(new Key('held'), new FlockStore($directory));
            $held->acquire();
            register_shutdown_function(fn () => $parent->say('shutdown function, ' . thread_count(getmypid())));
            $lock = $make();
            $destructed = new class ($parent) {
                public function __construct(private ParentLine $parent)
                {
                }

                public function __destruct()
                {
                    $this->parent->say('destructor');
                }
            };
            $parent->say('waiting');
            try {
                $call($lock);
            } catch (Throwable $e) {
                $parent->say('caught ' . get_class($e));
            } finally {
                $parent->say('finally');
            }
            $parent->say('went on');
        });
        $child->hear_exactly('waiting');
        wait_until(fn () => $waits($child->pid), 'the child waits');
        $child->kill(SIGTERM);
        $said = [];
        while (($line = $child->hear()) !== null) {
            $said[] = $line;
        }
        sort($said);
        check_same(['destructor', 'shutdown function, 1'], $said, "$way, $name(): what is said");
        check_same('exit 42', $child->ending(), "$way, $name(): the ending");
        check(is_free($directory, 'held'), "$way, $name(): its other lock is released");
        check(!$free(), "$way, $name(): the holder still holds");
        $holder->say('release');
        $holder->hear_exactly('released');
        check($free(), "$way, $name(): nothing is left");
    }
}
echo "done\n";
--EXPECT--
done
