--TEST--
Bad arguments of versions, throttles, count-downs, sequences and debounces are clear exceptions, and leave nothing behind
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_sync.inc';

use Latch\Store\{InMemoryStore, NullStore, RedisStore, SemaphoreStore};
use Latch\{CountDown, Arrival, SyncFactory, Throttle, Version};
use Latch\Tests\RedisServer;

$server = new RedisServer();
$bad = fn (string $message, callable $call, string $what) => check_same(INVALID . $message, outcome($call), $what);

foreach ([new SemaphoreStore(), new NullStore(), new Latch\Store\CombinedStore([new InMemoryStore()], new Latch\Strategy\UnanimousStrategy())] as $store) {
    $bad($store::class . ' has no versions, throttles, count-downs, sequences and debounces; Latch\Store\FlockStore, Latch\Store\InMemoryStore and Latch\Store\RedisStore have them',
        fn () => new SyncFactory($store), $store::class);
}

foreach (sync_factories($server) as $name => $factory) {
    foreach (['createVersion' => [], 'createThrottle' => [1, 1.0], 'createCountDown' => []] as $method => $rest) {
        $bad("Latch\SyncFactory::$method(): Argument #1 (\$resource) must not be empty: give it a name",
            fn () => $factory->$method('', ...$rest), "$name: $method");
    }
    foreach (['0' => 0, '-1' => -1, 'NAN' => NAN, 'INF' => INF, '-INF' => -INF] as $case => $ttl) {
        foreach (['createVersion', 'createCountDown'] as $method) {
            check_same("Latch\Exception\InvalidTtlException: Latch\SyncFactory::$method(): Argument #2 (\$ttl) must be a finite number of "
                . 'seconds above 0: all that a store keeps has to expire', outcome(fn () => $factory->$method('r', $ttl)), "$name: TTL $case");
        }
    }
    foreach ([
        [0, 1.0, 1, '2 ($limit) must be from 1 to 2^53'],
        [-5, 1.0, 1, '2 ($limit) must be from 1 to 2^53'],
        [2 ** 53 + 1, 1.0, 1, '2 ($limit) must be from 1 to 2^53'],
        [PHP_INT_MAX, 1.0, 1, '2 ($limit) must be from 1 to 2^53'],
        [2 ** 53, 1.0, 1, '2 ($limit) must not be more than a million per second: the clock counts microseconds'],
        [1, 0.0, 1, '3 ($interval) must be a number of seconds above 0, and a year at most'],
        [1, -1.0, 1, '3 ($interval) must be a number of seconds above 0, and a year at most'],
        [1, NAN, 1, '3 ($interval) must be a number of seconds above 0, and a year at most'],
        [1, INF, 1, '3 ($interval) must be a number of seconds above 0, and a year at most'],
        [1, 32e6, 1, '3 ($interval) must be a number of seconds above 0, and a year at most'],
        [5, 1.0, 0, '4 ($burst) must be from 1 to $limit'],
        [5, 1.0, 6, '4 ($burst) must be from 1 to $limit'],
    ] as [$limit, $interval, $burst, $message]) {
        $bad("Latch\SyncFactory::createThrottle(): Argument #$message", fn () => $factory->createThrottle('r', $limit, $interval, $burst),
            "$name: $limit in " . var_export($interval, true) . ", $burst at once");
    }

    $version = $factory->createVersion('r');
    foreach (['advance', 'revert', 'isOutdated'] as $method) {
        $bad("Latch\Version::$method(): Argument #1 (\$version) must not be empty", fn () => $version->$method(''), "$name: $method");
        $bad("Latch\Version::$method(): Argument #1 (\$version) must not have more than 4096 bytes",
            fn () => $version->$method(str_repeat('9', 4097)), "$name: $method");
        check_same("TypeError: Latch\Version::$method(): Argument #1 (\$version) must be of type DateTimeInterface|string|int, float given",
            outcome(fn () => $version->$method(1.5)), "$name: $method");
        check_same("TypeError: Latch\Version::$method(): Argument #1 (\$version) must be of type DateTimeInterface|string|int, stdClass given",
            outcome(fn () => $version->$method(new stdClass())), "$name: $method");
    }
    $bad('Latch\Version::advance(): Argument #1 ($version) must not be a date that is that far away',
        fn () => $version->advance((new DateTime())->setTimestamp(PHP_INT_MAX)), "$name: a far date");
    $version->advance(5);
    $mixed = 'The "r" version must be given in one form: the newest is a number and this one is none, or the other way round.';
    foreach (['advance', 'revert', 'isOutdated'] as $method) {
        $bad($mixed, fn () => $version->$method('v5'), "$name: $method of a text among numbers");
    }
    check_same('5', $version->get(), "$name: nothing has changed");

    $far = 'must be a number of seconds above 0, and 1e9 at most';
    foreach ([0.0, -1.0, NAN, INF, 2e9] as $lease) {
        $bad("Latch\SyncFactory::createSequence(): Argument #3 (\$lease) $far", fn () => $factory->createSequence('r', lease: $lease), "$name: lease");
    }
    foreach (['', str_repeat('o', 1025)] as $owner) {
        $bad('Latch\SyncFactory::createSequence(): Argument #4 ($owner) must be of getOwner(), of 1 to 1024 bytes, or null',
            fn () => $factory->createSequence('r', owner: $owner), "$name: owner");
    }
    $sequence = $factory->createSequence('r');
    $bad('Latch\Sequence::enter(): Argument #1 ($id) must not be empty', fn () => $sequence->enter(''), "$name: id");
    $bad('Latch\Sequence::enter(): Argument #1 ($id) must not have more than 1024 bytes', fn () => $sequence->enter(str_repeat('i', 1025)), "$name: id");
    $bad('Latch\Sequence::enter(): Argument #2 ($payload) must not have more than 1 MiB: keep the data elsewhere, and pass an identifier of them',
        fn () => $sequence->enter('a', str_repeat('x', 1024 * 1024 + 1)), "$name: payload");
    foreach (['resume', 'next', 'putBack'] as $method) {
        foreach ([0, -1, PHP_INT_MIN] as $ticket) {
            $bad("Latch\Sequence::$method(): Argument #1 (\$ticket) must be one that was told, which is above 0", fn () => $sequence->$method($ticket), "$name: $method");
        }
    }
    foreach ([-1.0, NAN, INF, 2e9] as $patience) {
        $bad('Latch\Sequence::abandon(): Argument #1 ($patience) must be a number of seconds from 0 to 1e9', fn () => $sequence->abandon($patience), "$name: patience");
    }
    check_same(['late', null, 0], [$sequence->resume(PHP_INT_MAX)->state, $sequence->next(PHP_INT_MAX), $sequence->inspect()['waiting']],
        "$name: no ticket, and nothing is there");
    foreach ([0.0, -1.0, NAN, INF, 32e6] as $quiet) {
        $bad('Latch\SyncFactory::createDebounce(): Argument #2 ($quiet) must be a number of seconds above 0, and a year at most',
            fn () => $factory->createDebounce('r', $quiet), "$name: quiet");
    }
    foreach ([1.0, -1.0, NAN, INF, 32e6] as $max) {
        $bad('Latch\SyncFactory::createDebounce(): Argument #3 ($max) must be a number of seconds from $quiet to a year, or null',
            fn () => $factory->createDebounce('r', 2.0, $max), "$name: max");
    }
    $debounce = $factory->createDebounce('r', 3600.0);
    foreach (['sent', 'resume', 'done'] as $method) {
        $bad("Latch\Debounce::$method(): Argument #1 (\$token) must be one that was told, which is above 0", fn () => $debounce->$method(0), "$name: $method");
    }
    check_same(['go', 'NULL', 'NULL'], [$debounce->resume(PHP_INT_MAX)->state, outcome(fn () => $debounce->sent(PHP_INT_MAX)),
        outcome(fn () => $debounce->done(PHP_INT_MAX))], "$name: a token of the future is nobody's");

    $throttle = $factory->createThrottle('r', 1, 60.0);
    $bad('Latch\Throttle::acquire(): Argument #2 ($timeout) must be null unless $blocking is true', fn () => $throttle->acquire(false, 1.0), $name);
    foreach ([-1.0, NAN, -INF] as $timeout) {
        $bad('Latch\Throttle::acquire(): Argument #2 ($timeout) must be a number of seconds, 0 or more', fn () => $throttle->acquire(true, $timeout), $name);
        $bad('Latch\CountDown::await(): Argument #1 ($timeout) must be a number of seconds, 0 or more',
            fn () => $factory->createCountDown('r')->await($timeout), $name);
    }
    check_same(true, $throttle->acquire(true, INF), "$name: no slot was used up");

    $count = $factory->createCountDown('r');
    foreach ([
        'must not be empty' => [],
        'must not have more than 10,000 members' => range(1, 10001),
        'must have strings or whole numbers alone' => ['a', 1.5],
        'must not have an empty member' => ['a', ''],
        'must not have a member of more than 1024 bytes' => [str_repeat('m', 1025)],
        'must not have a member twice' => ['1', 'a', 1],
    ] as $message => $members) {
        $bad("Latch\CountDown::open(): Argument #1 (\$members) $message", fn () => $count->open($members), "$name: members");
    }
    $bad('Latch\CountDown::open(): Argument #2 ($payload) must not have more than 1 MiB: keep the data elsewhere, and pass an identifier of them',
        fn () => $count->open(['a'], str_repeat('x', 1024 * 1024 + 1)), "$name: payload");
    $none = 'The "r" count-down is not open: it was not opened, or has expired; open it before its parts are sent.';
    $bad($none, fn () => $count->arrive('a'), "$name: not opened");
    $bad($none, fn () => $count->await(), "$name: not opened");
    check_same(['none', 'NULL', false], [$count->inspect()['state'], outcome(fn () => $count->done()), $count->cancel()], "$name: nothing is there");
    $count->open(['a', 'b'], 'p');
    $bad('The "r" count-down is open with other members; give each batch a name of its own.', fn () => $count->open(['a']), "$name: others");
    $bad('Latch\CountDown::arrive(): Argument #1 ($member) must be one of the members with which the count-down was opened',
        fn () => $count->arrive('c'), "$name: a stranger");
    foreach ([0.0, -1.0, NAN, INF] as $claim) {
        $bad('Latch\CountDown::arrive(): Argument #3 ($claim) must be a number of seconds above 0, and 1e9 at most',
            fn () => $count->arrive('a', claim: $claim), "$name: claim");
    }
    $bad('The "r" count-down is not done: 2 of its members have not arrived.', fn () => $count->done(), "$name: not done");
}

/* Another client's key of that name. */
$server->command('FLUSHALL');
$factory = new SyncFactory(new RedisStore($server->dsn()));
foreach (['latch:version:r', 'latch:throttle:r', 'latch:count:r', 'latch:count-members:r'] as $key) {
    $server->command('RPUSH', $key, 'x');
}
foreach ([
    'advance the "r" version' => fn () => $factory->createVersion('r')->advance(1),
    'acquire the "r" throttle' => fn () => $factory->createThrottle('r', 1, 1.0)->acquire(),
    'open the "r" count-down' => fn () => $factory->createCountDown('r')->open(['a']),
] as $what => $call) {
    check(preg_match("~^Latch\\\\Exception\\\\LockStorageException: Failed to $what: Redis at [0-9.:]+ answered: WRONGTYPE .+\.$~",
        $said = outcome($call)) === 1, "$what: $said");
}
check_same(4, $server->command('DBSIZE'), 'they are as they were');

/* What cannot be made, copied or kept. */
foreach ([Version::class, Throttle::class, CountDown::class, Arrival::class] as $class) {
    check_same("Error: Call to private $class::__construct() from global scope", outcome(fn () => eval("return new $class();")), 'new');
    check(str_starts_with(outcome(fn () => (new ReflectionClass($class))->newInstanceWithoutConstructor()), 'ReflectionException: ')
        || $class === Arrival::class, 'without constructor');
}
foreach ([$factory, $factory->createVersion('r'), $factory->createThrottle('r', 1, 1.0), $factory->createCountDown('r')] as $object) {
    $class = $object::class;
    check_same("Error: Trying to clone an uncloneable object of class $class", outcome(fn () => clone $object), 'clone');
    check_same("Exception: Serialization of '$class' is not allowed", outcome(fn () => serialize($object)), 'serialize');
}
check_same('Error: Latch\SyncFactory is constructed already', outcome(fn () => $factory->__construct(new InMemoryStore())), 'constructed twice');

/* A server that is not there. */
$server->stop();
check(str_starts_with($said = outcome(fn () => $factory->createVersion('r')->advance(1)),
    'Latch\Exception\LockStorageException: Failed to advance the "r" version: '), "without a server: $said");
echo "done\n";
?>
--EXPECT--
done
