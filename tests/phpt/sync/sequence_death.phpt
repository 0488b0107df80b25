--TEST--
Latch\Sequence: a process that is killed with an entry in its hand, or before it has sent one, stops nobody for ever
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Store\{FlockStore, RedisStore};
use Latch\SyncFactory;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$directory = temporary_directory();

/** Lets another process do that, and kills it. */
$kill_after = function (callable $work) use ($directory): void {
    static $number = 0;
    $ready = "$directory/ready" . $number++;
    $pid = pcntl_fork();
    if ($pid === 0) {
        $work();
        touch($ready);
        for (;;) {
            sleep(1000);
        }
    }
    wait_until(fn () => file_exists($ready), 'the other process has done it');
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
    check(pcntl_wifsignaled($status), 'it was killed');
};

foreach ([
    'files' => fn () => new SyncFactory(new FlockStore("$directory/store")),
    'Redis' => fn () => new SyncFactory(new RedisStore($server->dsn())),
] as $name => $connect) {
    $make = fn (float $lease = 3600.0) => $connect()->createSequence('r', 3600.0, $lease);
    $sequence = $make();
    $first = $sequence->enter('a')->ticket;
    $second = $sequence->enter('b', 'message b')->ticket;
    $third = $sequence->enter('c', 'message c')->ticket;

    /* A forked process is another owner. */
    check_same('go', $sequence->resume($first)->state, "$name: the first");
    $kill_after(function () use ($sequence, $first) {
        check_same('held', $sequence->resume($first)->state, 'not in the forked process');
        $sequence->putBack($first);
    });
    check_same('held', $make()->resume($first)->state, "$name: it has put nothing back");
    $sequence->putBack($first);

    /* Between resume() and next(): its message is delivered again. */
    $kill_after(fn () => check_same('go', $make(0.2)->resume($first)->state, 'its turn'));
    wait_until(fn () => $sequence->resume($first)->state === 'go', "$name: the lease of the dead ends");
    check_same('held', $make()->resume($first)->state, "$name: and nobody else has it");
    $sequence->putBack($first);

    /* After next(), with the one behind it: the first message is delivered again, and brings it out. */
    $kill_after(function () use ($make, $first, $second): void {
        $dying = $make(0.2);
        check_same('go', $dying->resume($first)->state, 'its turn');
        check_same($second, $dying->next($first)?->ticket, 'the second is in its hand');
    });
    wait_until(function () use ($sequence, $first) {
        $turn = $sequence->resume($first);
        check_same('done', $turn->state, 'it is not handled again');
        return $turn->retryAfter === 0.0;
    }, "$name: the lease of the dead ends");
    $entry = $sequence->next($first);
    check_same([$second, 'message b'], [$entry?->ticket, $entry?->payload], "$name: the second is handed out anew");
    check_same($third, $sequence->next($second)?->ticket, "$name: and then the third");
    check_same(null, $sequence->next($third), "$name: the end");

    /* Between enter() and the send: the message never comes. */
    $kill_after(fn () => check_same(true, $make()->enter('never sent')->isHead, 'the head'));
    $behind = $sequence->enter('behind', 'message');
    check_same(false, $behind->isHead, "$name: it waits");
    check_same(null, $sequence->abandon(3600.0), "$name: for a while");
    check_same($behind->ticket, $sequence->abandon(0.0)?->ticket, "$name: and goes on");
    check_same(null, $sequence->next($behind->ticket), "$name: the end");
}
echo "done\n";
?>
--EXPECT--
done
