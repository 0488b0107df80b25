--TEST--
synchronized() returns, throws and releases as try/finally does
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{FlockStore, InMemoryStore, NullStore};

class Callee
{
    public function method(): string
    {
        return 'method';
    }

    public static function staticMethod(): string
    {
        return 'static';
    }

    public function __invoke(): string
    {
        return 'invoke';
    }

    public function __call(string $name, array $arguments): string
    {
        return "$name(" . count($arguments) . ')';
    }
}

$directory = temporary_directory();
foreach (['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'PHP' => new RecordingStore($directory)] as $name => $store) {
    $make = fn () => new Lock(new Key('a'), $store);
    $lock = $make();
    check_same([1, 'x' => null], $lock->synchronized(fn () => [1, 'x' => null]), "$name: the value");
    check_same(null, $lock->synchronized(function () {
    }), "$name: no value");
    check_same(['method', 'static', 'invoke', 'magic(0)', '8.'], [
        $lock->synchronized([new Callee(), 'method']),
        $lock->synchronized('Callee::staticMethod'),
        $lock->synchronized(new Callee()),
        $lock->synchronized([new Callee(), 'magic']),
        substr($lock->synchronized('phpversion'), 0, 2),
    ], "$name: callables");
    $inside = $lock->synchronized(fn () => [$lock->isHeld(), $lock->isAcquired(), $make()->acquire()]);
    check_same([true, true, false], $inside, "$name: held inside, alone");
    check(!$lock->isAcquired() && $make()->acquire(), "$name: free afterwards");

    $thrown = new DomainException('mine');
    try {
        $lock->synchronized(fn () => throw $thrown);
        echo "BROKEN: nothing thrown\n";
    } catch (DomainException $e) {
        check($e === $thrown && $e->getPrevious() === null, "$name: its own exception");
    }
    check($make()->acquire(), "$name: free after an exception");

    /* A lock that was held before stays held. */
    $lock->acquire();
    $lock->synchronized(fn () => $lock->synchronized(fn () => null));
    check($lock->isAcquired(), "$name: held before and after");
    try {
        $lock->synchronized(fn () => throw $thrown);
    } catch (DomainException) {
    }
    check($lock->isAcquired(), "$name: held before and after an exception");
    $lock->release();

    /* A callback that releases by itself. */
    $lock->synchronized(fn () => $lock->release());
    check($make()->acquire(), "$name: released by the callback");

    /* By reference: the value arrives, not the reference. */
    $value = 5;
    $byReference = function &() use (&$value) {
        return $value;
    };
    $got = [$lock->synchronized($byReference)];
    $got[0]++;
    $taken = $lock->synchronized($byReference);
    $taken++;
    check_same(5, $value, "$name: the reference is not handed out");

    /* The argument that the callback gets: none. */
    check_same([], $lock->synchronized(fn (...$arguments) => $arguments), "$name: arguments");

    /* The lock object is used nowhere else: it lives as long as the call. */
    check_same('x', $make()->synchronized(fn () => 'x'), "$name: a temporary lock");
    check($make()->acquire(), "$name: free afterwards");
}
check_same(3, (new Lock(new Key('a'), new NullStore()))->synchronized(fn () => 3), 'NullStore');

/* The release fails: its exception, on top of the callback's. */
$store = new RecordingStore($directory);
$store->before = function (string $call) {
    if ($call === 'delete') {
        throw new RuntimeException('delete failed');
    }
};
$lock = new Lock(new Key('b'), $store);
echo outcome(fn () => $lock->synchronized(fn () => 1)), "\n";
try {
    $lock->synchronized(fn () => throw new DomainException('mine'));
} catch (Throwable $e) {
    for (; $e !== null; $e = $e->getPrevious()) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
$store->before = null;
echo "done\n";
--EXPECT--
Latch\Exception\LockReleasingException: Failed to release the "b" lock.
Latch\Exception\LockReleasingException: Failed to release the "b" lock.
RuntimeException: delete failed
DomainException: mine
done
