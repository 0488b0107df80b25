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

$store = new Careless();
foreach ([null, false, true, 0, 1, '', '0', 'text', [], [0], new stdClass(), 0.0, NAN] as $answer) {
    $store->answer = $answer;
    $lock = new Lock(new Key('a'), $store, 60, false);
    check($lock->acquire(), 'acquired');
    check_same((bool) $answer, $lock->isAcquired(), 'exists() = ' . get_debug_type($answer));
    $lock->refresh();
    $outcome = outcome(fn () => $lock->release());
    check(str_contains($outcome, 'still locked') === (bool) $answer, $outcome);
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
