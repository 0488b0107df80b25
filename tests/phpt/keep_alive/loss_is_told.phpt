--TEST--
A loss is told once to each callback, logged and counted, whatever the script is doing
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_keep_alive.inc';

use Latch\Lock;
use Latch\Tests\RedisServer;

$server = new RedisServer();
$losses = new Losses();
$lost = fn () => Lock::getStatistics()['lost'];

$doings = [
    'a system call' => fn () => usleep(1000),
    'a loop' => function () use ($losses) {
        for ($end = hrtime(true) + 1e7; $losses->told === [] && hrtime(true) < $end;) {
        }
    },
    'isHeld()' => fn () => $GLOBALS['lock']->isHeld(),
    'isExpired()' => fn () => $GLOBALS['lock']->isExpired(),
    'a generator' => fn () => iterator_to_array((fn () => yield from range(1, 1000))()),
];
foreach ($doings as $doing => $do) {
    $before = $lost();
    $lock = short_lock($server, ttl: 1.5)->keepAlive()->onLost($losses->note('first'))->onLost($losses->note('second'));
    $lock->setLogger($logger = new Logger());
    check($lock->acquire(), 'acquired');
    $logger->take();
    $server->command('DEL', 'r');
    wait_until(function () use ($do, $losses) {
        $do();
        return $losses->told !== [];
    }, "it is told in $doing");
    $losses->await('first', 'second');
    check_same(1, preg_match(
        '/^notice: The "<r>" lock was lost\. \[reason=\'[^\']+\'\]$/',
        implode("\n", $logger->take())
    ), "$doing: the log");
    check(!$lock->isHeld() && $lock->isExpired(), "$doing: not held, expired");
    check(!$lock->isAcquired(), "$doing: not acquired");
    check_same($before + 1, $lost(), "$doing: lost");
    $lock->release();
    check_same(['notice: Released the "<r>" lock, which had been lost before.'], $logger->take(), "$doing: the release");
    $lock->release();
    check_same(['debug: Successfully released the "<r>" lock.'], $logger->take(), "$doing: another release");
    check_same([], $losses->told, "$doing: it is told once");

    /* And another time. */
    check($lock->acquire(), "$doing: acquired again");
    $server->command('DEL', 'r');
    wait_until(fn () => $losses->told !== [], "$doing: the second loss is told");
    $losses->await('first', 'second');
    check_same($before + 2, $lost(), "$doing: lost twice");

    /* What is acquired after a loss is released as any other lock. */
    check($lock->acquire(), "$doing: acquired for the third time");
    $logger->take();
    $lock->release();
    check_same(['debug: Successfully released the "<r>" lock.'], $logger->take(), "$doing: the release of what is held");
}

/* Without keepAlive() a lock is lost when its time is over; it may be refreshed until then. */
$lock = short_lock($server, ttl: 1.5)->onLost($losses->note('time'));
check($lock->acquire(), 'acquired');
$lock->refresh(2);
$losses->await('time');
wait_until(fn () => $server->lacks('r'), 'it has expired'); // the server counts from later

/* What the script finds out by itself is told and counted once, too. */
$before = $lost();
$lock = short_lock($server, ttl: 300)->keepAlive()->onLost($losses->note('found'));
$finds = [
    'isAcquired' => fn () => check(!$lock->isAcquired(), 'isAcquired() finds it gone'),
    'refresh' => fn () => outcome($lock->refresh(...)),
];
foreach ($finds as $find) {
    check($lock->acquire(), 'acquired');
    $server->command('DEL', 'r');
    $find();
    $losses->await('found');
    check(!$lock->isHeld() && !$lock->isAcquired(), 'not held');
}
check_same($before + 2, $lost(), 'lost when it was found');

/* Of one loss all Locks that share it are told, but it is logged and counted once. */
$before = $lost();
$lock = short_lock($server)->keepAlive()->onLost($losses->note('shared'));
$clone = clone $lock;
foreach ([$lock, $clone] as $one) {
    $one->setLogger($logger);
}
check($lock->acquire(), 'acquired by one of two');
$logger->take();
$server->command('DEL', 'r');
$losses->await('shared', 'shared');
check_same(1, count(preg_grep('/ was lost\./', $logger->take())), 'logged once');
check_same($before + 1, $lost(), 'lost once');
unset($clone, $one);
$before = $lost();

/* What was released is not lost. */
$lock = short_lock($server, ttl: 1.5)->keepAlive()->onLost($losses->note('released'));
for ($times = 0; $times < 100; $times++) {
    check($lock->acquire(), 'acquired');
    $lock->release();
}
usleep(2000000);
check_same([], $losses->told, 'losses of what was released');

/* Nor is what never was acquired. */
$holder = redis_lock($server);
$holder->acquire();
check(!$lock->acquire(), 'refused');
usleep(2000000);
check_same([], $losses->told, 'losses of what was refused');
check_same($before, $lost(), 'lost in the end');
echo "done\n";
--EXPECT--
done
