--TEST--
Latch\Debounce: of a burst the last occurrence is handled, when the burst has ended
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Tests\RedisServer;

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    $hour = $factory->createDebounce('hour', 3600);
    $first = $hour->register();
    check($first->delay > 3590 && $first->delay <= 3600, "$name: the delay is the quiet time: $first->delay");
    $hour->sent($first->token);
    $second = $factory->createDebounce('hour', 3600)->register();
    check($second->token > $first->token, "$name: tokens rise");
    check_same('held', $hour->resume($first->token)->state, "$name: the second one was not sent, and replaces none");
    $hour->sent($second->token);
    $turn = $hour->resume($first->token);
    check_same(['done', 0.0], [$turn->state, $turn->retryAfter], "$name: now it does");
    $turn = $hour->resume($second->token);
    check_same('held', $turn->state, "$name: it waits for the end of the burst");
    check($turn->retryAfter > 3590, "$name: which is far");
    $third = $hour->register();
    check_same(['held', 'done'], [$hour->resume($third->token)->state, $hour->resume($second->token)->state],
        "$name: a message that comes was sent");

    /* At the latest after the greatest time, from the first one on. */
    $bounded = $factory->createDebounce('bounded', 3600, 3600);
    $first = $bounded->register();
    $bounded->sent($first->token);
    usleep(20_000);
    check($bounded->register()->delay <= 3600 - 0.02, "$name: it ends with the burst");

    /* Bursts that end. */
    $short = $factory->createDebounce('short', 0.05);
    $one = $short->register();
    $short->sent($one->token);
    wait_until(fn () => $short->resume($one->token)->state === 'go', "$name: the burst has ended");
    $two = $short->register();
    $short->sent($two->token);
    check_same('go', $short->resume($one->token)->state, "$name: a later burst does not replace it");
    $short->done($one->token);
    check_same('done', $short->resume($one->token)->state, "$name: it is handled once");
    wait_until(fn () => $short->resume($two->token)->state === 'go', "$name: the second burst has ended");
    check_same('go', $short->resume($two->token)->state, "$name: delivered again before it is done");
    $short->done($two->token);
    $short->done($two->token);
    check_same('done', $short->resume($two->token)->state, "$name: done");
    $three = $short->register();
    check($three->token > $two->token && $three->delay > 0, "$name: and anew");
}
check_same([], array_filter($server->command('KEYS', '*'), fn (string $key) => $server->command('PTTL', $key) < 1), 'all keys expire');
echo "done\n";
?>
--EXPECT--
done
