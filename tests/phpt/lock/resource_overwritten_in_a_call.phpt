--TEST--
A logger or a store that overwrites the key's resource in the middle of a call crashes nothing
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock, PersistingStoreInterface};
use Latch\Exception\LockConflictedException;
use Latch\Store\{FlockStore, InMemoryStore};

class Shattered
{
    public function __destruct()
    {
        gc_collect_cycles();
    }
}

/** Does not ask the key for its resource. */
class Watcher extends Logger
{
    public function debug(string|Stringable $message, array $context = []): void
    {
        $this->on_line?->__invoke('debug');
    }

    public function info(string|Stringable $message, array $context = []): void
    {
        $this->on_line?->__invoke('info');
    }

    public function notice(string|Stringable $message, array $context = []): void
    {
        $this->on_line?->__invoke('notice');
    }
}

/** Puts $value, or nothing at all, where the key has its resource. */
function overwrite(Key $key, mixed $value): void
{
    $properties = @new ArrayObject($key); // deprecated since 8.5
    if ($value === 'nothing') {
        unset($properties["\0Latch\\Key\0resource"]);
    } else {
        $properties["\0Latch\\Key\0resource"] = is_callable($value) ? $value() : $value;
    }
}

/** Fails, and expires, as it is told, and calls back before each step. */
class ScriptedStore implements PersistingStoreInterface
{
    public ?string $failing = null;
    public ?Closure $before = null;

    private function step(string $step): void
    {
        if ($this->before !== null) {
            ($this->before)();
        }
        if ($step === $this->failing) {
            throw new RuntimeException("$step failed");
        }
    }

    public function save(Key $key): void
    {
        $this->step('save');
    }

    public function delete(Key $key): void
    {
        $this->step('delete');
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->step('putOffExpiration');
        if ($this->failing === 'conflict') {
            throw new LockConflictedException();
        }
        $key->reduceLifetime($this->failing === 'late' ? -1 : $ttl);
    }

    public function exists(Key $key): bool
    {
        $this->step('exists');
        return $this->failing === 'still there';
    }
}

$directory = temporary_directory();
$gone = new FlockStore($directory);
rmdir($directory);
$memory = new InMemoryStore();
(new Lock($other = new Key('taken'), $memory, null, false))->acquire();

$values = ['nothing', 5, null, fn () => new stdClass(), fn () => new Shattered(), str_repeat('other', 9)];
$troubles = ['gone', 'taken', 'save', 'delete', 'putOffExpiration', 'exists', 'still there', 'late', 'conflict'];
foreach ($values as $value) {
    foreach ($troubles as $trouble) {
        foreach (['acquire', 'acquireRead', 'synchronized', 'release', 'refresh', 'destruct'] as $call) {
            foreach (['debug', 'info', 'notice', 'store'] as $moment) {
                $key = new Key($trouble === 'taken' ? 'taken' : 'free');
                $php = new ScriptedStore();
                $lock = new Lock($key, match ($trouble) {
                    'gone' => $gone,
                    'taken' => $memory,
                    default => $php,
                }, 60);
                if (in_array($call, ['release', 'refresh', 'destruct']) && !in_array($trouble, ['gone', 'taken'])) {
                    $lock->acquire();
                }
                $done = false;
                $now = function () use ($key, $value, &$done) {
                    if (!$done) {
                        $done = true;
                        overwrite($key, $value);
                    }
                };
                $lock->setLogger($logger = new Watcher());
                $logger->on_line = fn ($level) => $level === $moment ? $now() : null;
                $php->failing = $trouble;
                $php->before = $moment === 'store' ? $now : null;
                try {
                    match ($call) {
                        'acquire', 'acquireRead', 'release' => $lock->$call(),
                        'refresh' => $lock->refresh(10),
                        'synchronized' => $lock->synchronized(fn () => 1, 0),
                        'destruct' => $lock->__destruct(),
                    };
                } catch (Throwable) {
                }
                $now();
                print_r([$lock, $key], true);
                $php->failing = $php->before = $logger->on_line = null;
                try {
                    unset($lock);
                } catch (Error) { // that there is no resource
                }
                unset($key, $logger, $now, $php);
            }
        }
    }
}

/* What the messages say then: what is locked, or nothing. */
$key = new Key('name');
$lock = new Lock($key, $gone);
$logger = new Watcher();
$logger->on_line = fn () => overwrite($key, 'nothing');
$lock->setLogger($logger);
echo substr(outcome(fn () => $lock->acquire()), 0, 67), "\n";

echo "done\n";
--EXPECT--
Latch\Exception\LockAcquiringException: Failed to acquire the "name
done
