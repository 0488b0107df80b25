--TEST--
latch run --slots=N with System V semaphores: N commands at a time, by a counting semaphore; status counts its permits
--SKIPIF--
<?php
if (getenv('LATCH_INSTRUMENTED')) {
    die('skip the C code is tested with the stores, and PHP starts dozens of times here');
}
?>
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_cli.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\SemaphoreStore;

$project = 'latch phpt/' . bin2hex(random_bytes(6));
$store = '--store=semaphore://' . rawurlencode($project);
$permits = new SemaphoreStore($project);
$programs = [latch_run_cat($store, '--slots=2', 's'), latch_run_cat($store, '--slots=2', 's')];
check_same(0, (new Semaphore(new Key('s', 2), $permits))->available(), "PHP's semaphore is the same");
check_same("exit 75: |latch: \"s\" has no free slot of 2: other processes have them\n",
    latch_to_end('run', $store, '--slots=2', 's', '--', 'echo', 'no'), 'no third one');
check_same('exit 75: |', latch_to_end('run', $store, '-q', '--wait=0.1', '--slots=2', 's', '--', 'echo', 'no'), 'for a while');
check_same("exit 75: semaphore, 2 permits in use, by processes that are unknown\n|", latch_to_end('status', $store, 's'), 'status');
$json = json_decode(strstr(substr(latch_to_end('status', $store, '--format=json', 's'), strlen('exit 75: ')), '|', true), true);
check_same([null, 2, 2, []], [$json['mode'], $json['semaphore']['used'], $json['semaphore']['holderCount'], $json['semaphore']['holders']], 'as JSON');
check_same("exit 0: yes\n|", latch_to_end('run', $store, 's', '--', 'echo', 'yes'), 'a lock of that name is another thing');
check(str_contains($said = latch_to_end('run', $store, '--slots=3', 's', '--', 'echo', 'no'), 'have named a limit of 2, and not of 3'), $said);
$waiting = latch('run', $store, '--wait', '--slots=2', 's', '--', 'echo', 'next');
wait_until(fn () => $permits->inspect(new Key('s', 2))['waiters'] === 1, 'it waits');
check_same('exit 0', $programs[0]->let_go()->ending(), 'the first one');
check_same("exit 0: next\n|", $waiting->all(), 'the next one');

/* Killed: the kernel gives back, the command goes on without. */
[$command] = children_of($programs[1]->pid);
check_same('signal 9', $programs[1]->kill(SIGKILL)->ending(), 'latch is killed');
check(posix_kill($command, 0), 'the command lives');
check_same("exit 0: free\n|", latch_to_end('status', $store, 's'), 'nobody has any');
$programs[1]->let_go();

/* A signal to latch. */
$program = latch_run_cat($store, '--slots=1', 's');
check_same('exit 143', $program->kill(SIGTERM)->ending(), 'a signal');
check_same(1, (new Semaphore(new Key('s', 1), $permits))->available(), 'and nothing is left');
echo "done\n";
--EXPECT--
done
