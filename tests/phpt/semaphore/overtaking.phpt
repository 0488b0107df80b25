--TEST--
overtaking(): a light acquire passes a heavy waiter that does not fit, at once and out of the queue; without it nobody does
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Store\InMemoryStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$wait = fn (int $weight, bool $overtakes): Child => fork(function (ParentLine $parent) use ($server, $weight, $overtakes) {
    $semaphore = redis_semaphore($server, 3, $weight)->overtaking($overtakes);
    $parent->say('waits');
    $parent->say($semaphore->acquire(true, PATIENCE) ? 'held' : 'refused');
    $parent->hear_exactly('release');
    $semaphore->release();
    return 0;
});
$holder = redis_semaphore($server, 3, 2);
check($holder->acquire(), 'two of three');
$heavy = $wait(3, false);
$heavy->hear_exactly('waits');
wait_until(fn () => permit_queue($server) === 1, 'the heavy one waits');

/* At once, with and without a wait; not without overtaking(). */
$light = redis_semaphore($server, 3);
check(!$light->acquire() && !$light->acquire(true, 0.2), 'it does not overtake');
check_same($light, $light->overtaking(), 'fluent');
check($light->acquire() && !redis_semaphore($server, 3)->overtaking()->acquire(), 'it takes the last permit');
$light->release();
check($light->acquire(true, PATIENCE), 'also with a wait');
$clone = clone $light;
$light->release();
check($clone->acquire(), 'so does its clone');
check(!$clone->overtaking(false)->isExpired() && $clone->acquire(), 'it renews what it has');

/* Out of the queue, and past another light one. */
$polite = $wait(1, false);
$polite->hear_exactly('waits');
wait_until(fn () => permit_queue($server) === 2, 'a polite one waits');
$quick = $wait(1, true);
$quick->hear_exactly('waits');
wait_until(fn () => permit_queue($server) === 3, 'a quick one waits');
$clone->release();
$quick->hear_exactly('held');
check_same(2, permit_queue($server), 'the others still wait');
check_same(3, permits_held($server), 'no more than there are');
$quick->say('release');
check_same('exit 0', $quick->ending(), 'the quick one');
check(!$clone->acquire(), 'not any more');
$holder->release();
$heavy->hear_exactly('held');
$heavy->say('release');
$polite->hear_exactly('held');
$polite->say('release');
check_same(['exit 0', 'exit 0'], [$heavy->ending(), $polite->ending()], 'the others');
check_same(0, permits_held($server), 'in the end');

/* No queue, no difference. */
$memory = new InMemoryStore();
check((new Semaphore(new Key('s', 1), $memory))->overtaking()->acquire(), 'in memory');
echo "done\n";
--EXPECT--
done
