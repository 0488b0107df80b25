--TEST--
RedisStore: who may not send messages, or hear them, polls, and gets the lock beside those who queue
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_queue.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
$queue = new Queue($server);
$channels = $server->isBefore('6.2') ? [] : [
    'no channels' => ['~*', 'resetchannels', '+@all'],
    'others\' channels' => ['~*', 'resetchannels', '&news:*', '+@all'],
];
foreach ([
    'no PUBLISH' => ['~*', '&*', '+@all', '-publish'],
    'no SUBSCRIBE' => ['~*', '&*', '+@all', '-subscribe'],
] + $channels as $case => $rights) {
    $server->setUser('mute', 'reset', 'on', 'nopass', ...$rights);
    $lock = redis_lock($server, '', 'mute:any@');

    $lock->acquire();
    $queue->add('a', null, 'mute:any@', false);
    $queue->add('b', null, 'mute:any@', false);
    $polls = $server->count('type');
    wait_until(fn () => $server->count('type') > $polls + 10, "$case: they poll");
    check_same(0, $queue->length(), "$case: they do not stand in the queue");
    $lock->release();
    $order = $queue->drain($case);
    sort($order);
    check_same(['a', 'b'], $order, "$case: who has it");
    $queue->check_nothing_is_left($case);

    $case .= ', beside others';
    $lock->acquire();
    $queue->fill('a', 'b');
    $queue->add('mute', null, 'mute:any@', false);
    $queue->fill('c');
    $lock->release();
    $order = $queue->drain($case);
    check_same(['a', 'b', 'c'], array_values(array_diff($order, ['mute'])), "$case: the others have it in turn");
    check_same(4, count($order), "$case: all have it");
    $queue->check_nothing_is_left($case);
    unset($lock);
}
echo "done\n";
--EXPECT--
done
