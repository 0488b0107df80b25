--TEST--
Permits are kept alive in the background; a loss is told, logged, counted, and ends synchronized()
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\Semaphore\{Key, Semaphore};
use Latch\Semaphore\Exception\SemaphoreExpiredException;
use Latch\Semaphore\Store\InMemoryStore;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$told = [];
$note = function (string $name) use (&$told) {
    return function (Semaphore $semaphore, string $reason) use ($name, &$told) {
        check(!$semaphore->isHeld() && $reason !== '', "$name: not held when it is told");
        $told[] = $name;
    };
};
$await = function (string ...$names) use (&$told) {
    wait_until(function () use (&$told, $names) {
        return count($told) >= count($names);
    }, 'a loss is told');
    check_same($names, $told, 'what is told');
    $told = [];
};
$lose = fn () => $server->command('DEL', '{s}:weight', '{s}:time');
$lost = fn () => Semaphore::getStatistics()['lost'];

/* Kept far beyond its time, also while PHP is blocked. */
$semaphore = redis_semaphore($server, 2, 2, 4.0)->keepAlive()->onLost($note('kept'));
check($semaphore->acquire(), 'acquired');
check_same(2, thread_count(getmypid()), 'threads');
sleep(9);
check($semaphore->isHeld() && $semaphore->isAcquired() && !$semaphore->isExpired(), 'kept');
check($semaphore->getRemainingLifetime() > 0 && !redis_semaphore($server, 2)->acquire(), 'nobody else gets one');
$semaphore->release();
check(!$semaphore->isHeld() && permits_held($server) === 0, 'released');
check_same([], $told, 'losses of what was released');

/* Lost. */
foreach ([true, false] as $keeps) {
    $before = $lost();
    $semaphore = redis_semaphore($server, 2, 1, $keeps ? 2.0 : 1.0)->onLost($note('first'))->onLost($note('second'));
    $keeps && $semaphore->keepAlive();
    $semaphore->setLogger($logger = new Logger());
    check($semaphore->acquire(), 'acquired');
    $logger->take();
    $keeps && $lose();
    $await('first', 'second');
    check_same(1, preg_match('/^notice: The "<s>" semaphore was lost\. \[reason=\'[^\']+\'\]$/', implode("\n", $logger->take())), 'the log');
    check(!$semaphore->isHeld() && $semaphore->isExpired(), 'not held');
    check_same($before + 1, $lost(), 'lost');
    $semaphore->release();
    check_same(['notice: Released the "<s>" semaphore, which had been lost before.'], $logger->take(), 'the release');
    $semaphore->release();
    check_same([], $logger->take(), 'another release');
}

/* With latch.throw_on_lost. */
ini_set('latch.throw_on_lost', '1');
$semaphore = redis_semaphore($server, 2, 1, 2.0)->keepAlive();
$semaphore->acquire();
$lose();
try {
    wait_until(fn () => false, 'the loss is thrown');
} catch (SemaphoreExpiredException $e) {
    check(preg_match('/^The "s" semaphore was lost: .+\.$/', $e->getMessage()) === 1, $e->getMessage());
}
ini_set('latch.throw_on_lost', '0');

/* synchronized() tells of it, and loses no result. */
$semaphore = redis_semaphore($server, 2);
try {
    $semaphore->synchronized(function () use ($lose, $semaphore) {
        $lose();
        check(!$semaphore->isAcquired(), 'gone');
        return 'result';
    });
    check(false, 'no exception');
} catch (SemaphoreExpiredException $e) {
    check_same('result', $e->getResult(), 'the result');
    check_same('The "s" semaphore was lost before the callback of synchronized() returned, so that another holder may have had it '
        . 'meanwhile; getResult() has what the callback returned.', $e->getMessage(), 'the message');
}
check_same(null, (new SemaphoreExpiredException(new Key('s', 1), 'x'))->getResult(), 'the result of others');

/* What is found out by hand. */
check($semaphore->acquire(), 'acquired');
$lose();
check(!$semaphore->isAcquired() && !$semaphore->isHeld(), 'found by isAcquired()');
check($semaphore->acquire(), 'acquired');
$lose();
check_same('Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "s" has expired: the script returns a positive number.',
    outcome(fn () => $semaphore->refresh()), 'found by refresh()');
check(!$semaphore->isHeld() && permits_held($server) === 0, 'not held');

/* Stores that cannot. */
$php = new Semaphore(new Key('s', 1), new RecordingPermitStore(temporary_directory()));
check_same('Latch\Semaphore\Exception\InvalidArgumentException: The "s" semaphore cannot be kept alive in a RecordingPermitStore: it is written in PHP, '
    . 'which only this thread can run; call refresh() in time.', outcome(fn () => $php->keepAlive()), 'a store in PHP');
$memory = (new Semaphore(new Key('s', 1), new InMemoryStore()))->keepAlive()->onLost($note('memory'));
check($memory->acquire() && $memory->isHeld(), 'in memory nothing has to be kept');

/* A forked child keeps nothing of its parent's. */
$semaphore = redis_semaphore($server, 2, 1, 2.0)->keepAlive()->onLost($note('parent'));
$semaphore->acquire();
$child = fork(function () use ($semaphore, $server, &$told) {
    check_same(1, thread_count(getmypid()), 'threads of the child');
    check(!$semaphore->isHeld(), 'not its own');
    $own = redis_semaphore($server, 2, 1, 2.0)->keepAlive();
    check($own->acquire(), 'its own');
    sleep(3);
    check($own->isHeld() && $own->isAcquired(), 'kept in the child');
    return count($told);
});
check_same('exit 0', $child->ending(), 'the child');
sleep(2);
check($semaphore->isHeld() && $semaphore->isAcquired(), 'kept by the parent');
check_same(1, permits_held($server), "held in the end");
check_same([], $told, 'losses in the end');
echo "done\n";
--EXPECT--
done
