--TEST--
A fatal error in a handler during a wait ends the request with nothing taken
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

use Latch\{Key, Lock};
use Latch\Store\FlockStore;

$directory = temporary_directory();
foreach (ways_to_wait($directory) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits, 'free' => $free]) {
    $holder = $hold();
    $child = fork(function (ParentLine $parent) use ($make, $directory) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, fn () => @trigger_error('in the handler', E_USER_ERROR));
        $held = new Lock(new Key('held'), new FlockStore($directory));
        $held->acquire();
        // a child that lives on: what the wait has open must not be left to it
        if (pcntl_fork() === 0) {
            $parent->stay();
        }
        $make()->acquire(true);
    });
    wait_until(fn () => $waits($child->pid), 'the child waits');
    $child->kill(SIGUSR1);
    check_same('died of: in the handler', $child->hear(), "$way: last words");
    check_same('exit 255', $child->ending(), "$way: the ending");
    check(is_free($directory, 'held'), "$way: its other lock is released");
    $holder->say('release');
    $holder->hear_exactly('released');
    check($free(), "$way: nothing is left");
    $child->let_go();
}
echo "done\n";
--EXPECT--
done
