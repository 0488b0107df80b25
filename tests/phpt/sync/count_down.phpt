--TEST--
Latch\CountDown: the last of its members is given the payload, once; a claim ends; processes wait for the end
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';
require __DIR__ . '/../../utils/phpt_fork.inc';

use Latch\{Arrival, SyncFactory};
use Latch\Store\RedisStore;
use Latch\Tests\RedisServer;

function told(Arrival $arrival): array
{
    return [$arrival->left, $arrival->payload, $arrival->failed];
}

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    $count = $factory->createCountDown('import');
    check_same(true, $count->open(['a', 'b', 3], 'sum up'), "$name: opened");
    check_same(false, $factory->createCountDown('import')->open(['3', 'b', 'a'], 'x'), "$name: it is open, whatever the order");
    check_same([2, null, []], told($count->arrive('b', true)), "$name: the first");
    check_same([2, null, []], told($count->arrive('b', true)), "$name: once more");
    check_same(false, $count->await(0), "$name: it is not done");
    check_same(false, $count->await(0.03), "$name: nor soon");
    check_same([1, null, []], told($count->arrive('a')), "$name: the second");
    $state = $count->inspect();
    check_same(['state' => 'open', 'total' => 3, 'left' => 1, 'hasPayload' => true, 'claimedFor' => 0.0, 'failed' => ['b'],
        'missing' => ['3']], $state, "$name: what is known");
    check_same([0, 'sum up', ['b']], told($count->arrive('3', claim: 1.0)), "$name: the last");
    check_same([0, null, ['b']], told($count->arrive('3')), "$name: nobody else is given the payload");
    check_same('arrived', $count->inspect()['state'], "$name: all have arrived");
    wait_until(fn () => $count->inspect()['claimedFor'] === 0.0, 'the claim has ended');
    check_same([0, 'sum up', ['b']], told($count->arrive('a')), "$name: after the claim the next one is");
    check($count->inspect()['claimedFor'] > 0, "$name: it is claimed again");
    check_same(null, $count->done(), "$name: done");
    check_same(true, $count->await(), "$name: the end is known");
    check_same([0, null, []], told($count->arrive('a')), "$name: a part that is delivered late");
    check_same(false, $count->open(['a', 'b', '3'], 'sum up'), "$name: and one that opens it late");

    $plain = $factory->createCountDown('plain');
    $plain->open([1, 2]);
    $plain->arrive('1', true);
    check_same([0, null, ['1']], told($plain->arrive('2')), "$name: without a payload");
    check_same([true, 'done', ['1']], [$plain->await(), $plain->inspect()['state'], $plain->inspect()['failed']], "$name: that is the end");

    $cancelled = $factory->createCountDown('cancelled');
    $cancelled->open(['a'], '');
    check_same([true, false, false], [$cancelled->cancel(), $cancelled->cancel(), $cancelled->await()], "$name: cancelled");
    check_same([0, null, []], told($cancelled->arrive('a')), "$name: its parts have no effect");
    check_same(true, $cancelled->open(['b'], ''), "$name: and it can be opened anew");
    check_same([0, '', []], told($cancelled->arrive('b')), "$name: an empty payload is one");

    $members = array_map(fn (int $at) => "part $at", range(1, 10000));
    $large = $factory->createCountDown('large');
    check_same(true, $large->open($members, str_repeat("\0x", 512 * 1024)), "$name: ten thousand, and a MiB");
    check_same(9999, $large->arrive('part 5000')->left, "$name: one has arrived");
    check_same(9999, count($large->inspect()['missing']), "$name: the others are told");
    $large->cancel();
    $one = $factory->createCountDown('one');
    $one->open(['a'], str_repeat("\0x", 512 * 1024));
    check_same(str_repeat("\0x", 512 * 1024), $one->arrive('a')->payload, "$name: a payload of a MiB");
}
check_same(0, count(array_filter($server->command('KEYS', '*'), fn (string $key) => $server->command('PTTL', $key) < 1)), 'all keys expire');

/* Many processes deliver each part twice: exactly one of them is given the payload. */
$parts = range(1, 40);
$count = (new SyncFactory(new RedisStore($server->dsn())))->createCountDown('many');
$count->open($parts, 'total');
$directory = temporary_directory();
$children = [];
for ($worker = 0; $worker < 4; $worker++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $mine = (new SyncFactory(new RedisStore($server->dsn())))->createCountDown('many');
        mt_srand($worker);
        $order = array_merge($parts, $parts);
        shuffle($order);
        foreach ($order as $part) {
            if ($part % 2 !== $worker % 2) {
                continue; /* two have the odd ones, two the others */
            }
            if ($mine->arrive("$part")->payload === 'total') {
                file_put_contents("$directory/last-$worker", $part);
                $mine->done();
            }
        }
        posix_kill(getmypid(), SIGKILL);
    }
    $children[] = $pid;
}
check_same(true, $count->await(PATIENCE), 'the end is awaited');
foreach ($children as $pid) {
    pcntl_waitpid($pid, $status);
}
check_same(1, count(glob("$directory/last-*")), 'exactly one was the last');
echo "done\n";
?>
--EXPECT--
done
