--TEST--
A member, a strategy or a logger that throws an Error, exits or dies leaves nothing locked
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore};
use Latch\Strategy\{StrategyInterface, UnanimousStrategy};

class CountingStrategy implements StrategyInterface
{
    public ?Closure $before = null;

    public function isMet(int $numberOfSuccess, int $numberOfItems): bool
    {
        $this->before !== null && ($this->before)('isMet');
        return $numberOfSuccess === $numberOfItems;
    }

    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool
    {
        $this->before !== null && ($this->before)('canBeMet');
        return true;
    }
}

class FailingStore extends RecordingStore
{
    public function save(Key $key): void
    {
        throw new RuntimeException('always');
    }
}

$ends = [
    'Error' => [fn () => throw new TypeError('the end'), 'exit 0'],
    'exit' => [fn () => exit(3), 'exit 3'],
    'fatal error' => [fn () => @trigger_error('the end', E_USER_ERROR), 'exit 255'],
    'memory limit' => [function () {
        ini_set('memory_limit', 6 * 1024 * 1024 + memory_get_usage(true));
        str_repeat('x', 64 * 1024 * 1024);
    }, 'exit 255'],
    'time limit' => [function () {
        set_time_limit(1);
        while (true);
    }, 'exit 255'],
];
$places = ['save', 'putOffExpiration', 'exists', 'isMet', 'canBeMet', 'log'];
foreach ($ends as $name => [$end, $ending]) {
    if (getenv('USE_ZEND_ALLOC') === '0' && in_array($name, ['time limit', 'memory limit'], true)) {
        continue; // under valgrind the one takes long, and the other does not exist
    }
    // a time limit takes a second of the processor, and is a fatal error for the rest
    foreach ($name === 'time limit' ? ['save', 'log'] : $places as $place) {
        foreach (['store', 'lock'] as $way) {
            $case = "$name at $place, by the $way";
            $directory = temporary_directory();
            $other = temporary_directory();
            $child = fork(function (ParentLine $parent) use ($end, $place, $way, $directory, $other) {
                $member = new RecordingStore($directory);
                $strategy = $place === 'isMet' || $place === 'canBeMet' ? new CountingStrategy() : new UnanimousStrategy();
                $stores = [new FlockStore($directory), $member, new FlockStore($other)];
                if ($place === 'log') {
                    $stores[] = new FailingStore($directory);
                }
                $store = new CombinedStore($stores, $strategy);
                $logger = new Logger();
                $store->setLogger($logger);
                $key = new Key('a');
                $lock = new Lock($key, $store, 60);
                $ready = in_array($place, ['putOffExpiration', 'exists'], true);
                if ($ready && $way === 'store') {
                    $store->save($key);
                }
                $member->before = fn (string $call) => $call === $place ? $end() : null;
                $logger->on_line = fn () => $place === 'log' ? $end() : null;
                if ($strategy instanceof CountingStrategy) {
                    $strategy->before = fn (string $call) => $call === $place ? $end() : null;
                }
                try {
                    if ($way === 'lock') {
                        $lock->acquire();
                        $lock->isAcquired();
                    } elseif ($place === 'exists') {
                        $store->exists($key);
                    } elseif ($place === 'putOffExpiration') {
                        $store->putOffExpiration($key, 60);
                    } else {
                        $store->save($key);
                    }
                    $parent->say('not ended');
                } catch (TypeError) {
                    // What a store was told to keep it keeps; this looks while the process lives.
                    $member->before = null;
                    $logger->on_line = null;
                    if ($strategy instanceof CountingStrategy) {
                        $strategy->before = null;
                    }
                    if ($way === 'lock') {
                        unset($lock);
                    } elseif ($place === 'exists') {
                        $store->delete($key);
                    }
                    foreach ([$directory, $other] as $path) {
                        if (!is_free($path, 'a')) {
                            $parent->say("not free in $path");
                        }
                    }
                }
                return 0;
            });
            $heard = '';
            while (($line = $child->hear()) !== null) {
                $heard .= str_starts_with($line, 'died of: ') ? '' : $line;
            }
            check_same('', $heard, $case);
            check_same($ending, $child->ending(), "$case: the ending");
            check(is_free($directory, 'a') && is_free($other, 'a'), "$case: free when it is over");
            if ($name === 'Error') {
                check(!(new RecordingStore($directory))->is_locked('a'), "$case: given back in PHP");
            }
        }
    }
}
echo "done\n";
--EXPECT--
done
