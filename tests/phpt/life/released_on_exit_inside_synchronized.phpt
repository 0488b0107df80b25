--TEST--
exit() in a function called by synchronized() releases, and is the end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_life.inc';

function leave(): never
{
    exit(6);
}

class FailingStore extends RecordingStore
{
    public function delete(Latch\Key $key): void
    {
        throw new RuntimeException('delete failed');
    }
}

$GLOBALS['parent_process'] = getmypid();
prove_released(function ($take) {
    [$file, $php] = $take->make();
    try {
        $file->synchronized(fn () => $php->synchronized(function () use ($take) {
            $take->announce();
            leave();
        }));
    } catch (Throwable) {
        exit(99);
    } finally {
        exit(98); // is not run either
    }
}, 'exit 6');

/* Also when the release fails: it does not bring the script back to life. */
$child = fork(function () {
    // a global: its destructor, which throws as Symfony's does, comes later
    $GLOBALS['lock'] = new Latch\Lock(new Latch\Key('a'), new FailingStore(temporary_directory()));
    try {
        $GLOBALS['lock']->synchronized(fn () => leave());
    } catch (Throwable) {
        exit(99);
    }
    exit(98);
});
check_same('exit 6', $child->ending(), 'exit() wins over a failing release');
echo "done\n";
--EXPECT--
done
