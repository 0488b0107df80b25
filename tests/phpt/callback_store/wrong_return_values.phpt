--TEST--
A PHP store with careless return values does no harm
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';

use Latch\{Key, Lock, PersistingStoreInterface};

/* The interfaces' return types are tentative: these load with deprecations alone. */
class Careless implements PersistingStoreInterface
{
    public mixed $answer = null;

    #[ReturnTypeWillChange]
    public function save(Key $key)
    {
        return $this->answer;
    }

    #[ReturnTypeWillChange]
    public function delete(Key $key)
    {
        return $this->answer;
    }

    #[ReturnTypeWillChange]
    public function exists(Key $key)
    {
        return $this->answer;
    }

    #[ReturnTypeWillChange]
    public function putOffExpiration(Key $key, $ttl)
    {
        return $this->answer;
    }
}

$warnings = [];
set_error_handler(function (int $level, string $message) use (&$warnings): bool {
    $warnings[] = $message;
    return true;
});
$store = new Careless();
foreach ([null, false, true, 0, 1, '', '0', 'text', [], [0], new stdClass(), 0.0, NAN] as $answer) {
    $store->answer = $answer;
    $yes = !in_array($answer, [null, false, 0, '', '0', [], 0.0], true);
    $lock = new Lock(new Key('a'), $store, 60, false);
    check($lock->acquire(), 'acquired');
    check_same($yes, $lock->isAcquired(), 'exists() = ' . get_debug_type($answer));
    $lock->refresh();
    $outcome = outcome(fn () => $lock->release());
    check(str_contains($outcome, 'still locked') === $yes, $outcome);
}
/* Since 8.5, PHP warns where NAN is to be true or false: here in isAcquired() and in release(). */
$nan = PHP_VERSION_ID < 80500 ? [] : array_fill(0, 2, 'unexpected NAN value was coerced to bool');
check_same($nan, $warnings, 'warnings');
set_error_handler(function (int $level, string $message): never {
    throw new ErrorException($message);
});
$store->answer = NAN;
$lock = new Lock(new Key('a'), $store, null, false);
$lock->acquire();
foreach (['isAcquired', 'release'] as $method) {
    $outcome = outcome($lock->$method(...));
    check(str_contains($outcome, 'NAN') === (PHP_VERSION_ID >= 80500), "$method() with NAN: $outcome");
}
restore_error_handler();
restore_error_handler();

/* An answer that throws when nobody needs it any more. */
$throws = new class extends Careless {
    public function exists(Key $key): object
    {
        return new class {
            public function __destruct()
            {
                throw new DomainException('the end of an answer');
            }
        };
    }
};
$lock = new Lock(new Key('a'), $throws, null, false);
$lock->acquire();
foreach (['isAcquired', 'release'] as $method) {
    check_same('DomainException: the end of an answer', outcome($lock->$method(...)), $method);
}
/* By reference. */
$reference = new class implements PersistingStoreInterface {
    private bool $yes = true;

    public function save(Key $key): void
    {
    }

    public function delete(Key $key): void
    {
    }

    public function &exists(Key $key): bool
    {
        return $this->yes;
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
    }
};
$lock = new Lock(new Key('a'), $reference, null, false);
check($lock->acquire() && $lock->isAcquired(), 'a reference');
echo "done\n";
--EXPECT--
done
