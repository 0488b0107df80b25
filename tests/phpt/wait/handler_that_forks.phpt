--TEST--
A handler that forks disturbs neither the wait of the parent nor that of the child
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_wait.inc';

pcntl_async_signals(true);
foreach (ways_to_wait(temporary_directory()) as $way => ['make' => $make, 'hold' => $hold, 'waits' => $waits]) {
    // where a key has a token, a fork gives it to two processes: there the child only exits
    foreach ($way === 'flock' ? ['exits', 'waits on'] : ['exits'] as $what) {
        $holder = $hold();
        $signaller = signaller($waits);
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $child_line = new Line($pair[0]);
        $main = getmypid();
        $pid = null;
        pcntl_signal(SIGUSR1, function () use (&$pid, $what, $pair) {
            $pid = pcntl_fork();
            if ($pid === 0) {
                fclose($pair[0]);
                if ($what === 'exits') {
                    exit(5);
                }
            }
        });
        $signaller->say((string) SIGUSR1);
        /* The holder releases once the forked child has gone, or waits in turn. */
        if ($what === 'exits') {
            pcntl_signal(SIGCHLD, function () use ($holder, &$pid) {
                if ($pid !== null && pcntl_waitpid($pid, $status, WNOHANG) === $pid) {
                    Log::note('child ' . pcntl_wexitstatus($status));
                    $holder->say('release');
                }
            });
        } else {
            pcntl_signal(SIGUSR2, fn () => $holder->say('release'));
            $second = fork(function () use ($main, $waits) {
                wait_until(function () use ($main, $waits) {
                    foreach (explode(' ', trim(@file_get_contents("/proc/$main/task/$main/children"))) as $child) {
                        if ((int) $child !== getmypid() && $waits((int) $child) && $waits($main)) {
                            return true;
                        }
                    }
                    return false;
                }, 'parent and child wait');
                posix_kill($main, SIGUSR2);
                return 0;
            });
        }
        Log::$events = [];
        $lock = $make();
        $got = $lock->acquire(true);
        if (getmypid() !== $main) {
            $line = new Line($pair[1]);
            $line->say($got && $lock->isAcquired() ? 'the child got it' : 'the child did not get it');
            $line->hear();
            exit($lock->isAcquired() ? 6 : 7);
        }
        fclose($pair[1]);
        if ($what === 'exits') {
            check($got && $lock->isAcquired(), "$way: the parent got it");
            check_same(['child 5'], Log::$events, "$way: events");
        } else {
            /* One of both is first; it exits or releases, then it is the other's turn. */
            check($got && $lock->isAcquired(), "$way: the parent got it");
            $lock->release();
            $child_line->hear_exactly('the child got it');
            check(!$lock->acquire(), "$way: now it is the child's");
            $child_line->say('end');
            pcntl_waitpid($pid, $status);
            check_same(6, pcntl_wexitstatus($status), "$way: the child's ending");
            check($lock->acquire(), "$way: released at the child's end");
            pcntl_signal(SIGUSR2, SIG_DFL);
        }
        $lock->release();
        pcntl_signal(SIGCHLD, SIG_DFL);
        pcntl_signal(SIGUSR1, SIG_DFL);
    }
}
echo "done\n";
--EXPECT--
done
