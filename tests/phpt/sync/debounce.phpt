--TEST--
Latch\Debounce: of a burst of occurrences the last one goes
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Tests\RedisServer;

const LONG = 3600.0, SHORT = 0.001;

$server = new RedisServer();
foreach (sync_factories($server) as $name => $factory) {
    $debounce = $factory->createDebounce('product-7', LONG);
    $soon = $factory->createDebounce('product-7', SHORT); // asks by another quiet time
    $first = $debounce->register();
    check($first->token > 0 && $first->delay > 3000 && $first->delay <= 3600.1, "$name: the delay is the quiet time");
    $debounce->sent($first->token);
    $second = $debounce->register();
    check($second->token > $first->token, "$name: tokens rise");
    $turn = $debounce->resume($first->token);
    check_same(['held', true], [$turn->state, $turn->retryAfter > 3000], "$name: the second is not sent yet");
    $debounce->sent($second->token);
    check_same(['done', 0.0], [$debounce->resume($first->token)->state, $debounce->resume($first->token)->retryAfter], "$name: it was replaced");
    check_same('held', $debounce->resume($second->token)->state, "$name: the last one waits");
    wait_until(fn () => $soon->resume($second->token)->state === 'go', "$name: until the burst has ended");
    check_same('go', $soon->resume($second->token)->state, "$name: again when it is delivered again");
    check_same('done', $soon->resume($first->token)->state, "$name: the other does not");

    /* A burst that has ended is not disturbed by the next one. */
    $third = $soon->register();
    $soon->sent($third->token);
    check_same('go', $debounce->resume($second->token)->state, "$name: it is still to be handled");
    $debounce->done($second->token);
    $debounce->done($second->token);
    check_same('done', $debounce->resume($second->token)->state, "$name: it is handled");
    wait_until(fn () => $soon->resume($third->token)->state === 'go', "$name: the next burst");
    $soon->done($third->token);
    check_same('done', $soon->resume($third->token)->state, "$name: is handled, too");

    /* A sender that dies before it has sent takes no one's place. */
    $sent = $soon->register();
    $soon->sent($sent->token);
    $soon->register();
    wait_until(fn () => $soon->resume($sent->token)->state === 'go', "$name: the one that was sent goes");
    $soon->done($sent->token);

    /* A burst that does not end by itself. */
    $busy = $factory->createDebounce('busy', LONG, LONG);
    $first = $busy->register();
    $busy->sent($first->token);
    wait_until(function () use ($busy, $first) {
        $late = $busy->register();
        return $late->delay < ($late->token - $first->token) / 1e6 + 3600 && $late->delay <= 3600 - ($late->token - $first->token) / 1e6 + 0.001;
    }, "$name: it ends that long after its first one");

    check_same('go', $debounce->resume(PHP_INT_MAX)->state, "$name: what is not known is handled");
}
check_same(0, count(array_filter($server->command('KEYS', '*'), fn (string $key) => $server->command('PTTL', $key) < 1)), 'all keys expire');
echo "done\n";
?>
--EXPECT--
done
