--TEST--
A semaphore throws, counts and says what is a semaphore's: nothing of a lock's, whatever a store or a logger throws
--FILE--
<?php
require __DIR__ . '/../../utils/phpt_semaphore.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\Exception\LockConflictedException;
use Latch\Semaphore\{Key, PersistingStoreInterface, Semaphore};
use Latch\Semaphore\Exception\{SemaphoreAcquiringException, SemaphoreExpiredException};
use Latch\Semaphore\Store\InMemoryStore;
use Latch\Tests\RedisServer;

/* A store of locks and of semaphores: waitAndSave() is for locks. */
class StoreOfBoth implements Latch\BlockingStoreInterface, PersistingStoreInterface
{
    public array $calls = [];
    public int $refusals = 0;
    public ?Throwable $failure = null;

    private function called(string $call, Latch\Key|Key $key): void
    {
        $this->calls[] = $call . ($key instanceof Key ? ' of permits' : ' of a lock');
        if ($this->failure !== null) {
            throw $this->failure;
        }
    }

    public function save(Latch\Key|Key $key, float $ttlInSecond = 0.0): void
    {
        $this->called('save', $key);
        if ($this->refusals-- > 0) {
            throw new SemaphoreAcquiringException($key, 'not yet');
        }
    }

    public function waitAndSave(Latch\Key $key): void
    {
        $this->called('waitAndSave', $key);
    }

    public function delete(Latch\Key|Key $key): void
    {
        $this->called('delete', $key);
    }

    public function exists(Latch\Key|Key $key): bool
    {
        return true;
    }

    public function putOffExpiration(Latch\Key|Key $key, float $ttl): void
    {
        $this->called('putOffExpiration', $key);
    }
}

/* Waits. */
$store = new StoreOfBoth();
$store->refusals = 2;
check((new Semaphore(new Key('s', 1), $store, 300.0, false))->acquire(true), 'permits are waited for');
check((new Latch\Lock(new Latch\Key('s'), $store, null, false))->acquire(true), 'a lock, too');
check_same(['save of permits', 'save of permits', 'save of permits', 'waitAndSave of a lock'], $store->calls, 'by polls and by waitAndSave()');

/* Losses. */
$lost = fn (): int => Semaphore::getStatistics()['lost'];
foreach (['acquire' => 0, 'refresh' => 1] as $method => $held) {
    $semaphore = new Semaphore($key = new Key('s', 1), $store, 300.0, false);
    $store->failure = null;
    $held && $semaphore->acquire();
    $before = $lost();
    $store->failure = new SemaphoreExpiredException($key, 'too late');
    check_same('Latch\Semaphore\Exception\\' . ($held ? 'SemaphoreExpiredException: The semaphore "s" has expired: too late.'
        : 'RuntimeException: Failed to acquire the "s" semaphore.'), outcome(fn () => $semaphore->$method()), $method);
    check_same(1, $lost() - $before, "what $method() found lost is counted");
}

/* A conflict of a lock that the store or the logger uses is a failure, and no conflict of the semaphore. */
$store = new StoreOfBoth();
$store->failure = new LockConflictedException('of another lock');
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore.',
    outcome(fn () => (new Semaphore(new Key('s', 1), $store))->acquire()), 'a store with a lock');
$logger = new Logger();
$logger->on_line = fn (string $level, string $message) => str_starts_with($message, 'Successfully') ? throw new LockConflictedException() : null;
$semaphore = new Semaphore(new Key('s', 1), new InMemoryStore());
$semaphore->setLogger($logger);
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore.', outcome(fn () => $semaphore->acquire()), 'a logger with a lock');
$logger->on_line = fn (string $level, string $message) => str_starts_with($message, 'Expiration') ? throw new SemaphoreExpiredException(new Key('t', 1), 'a test') : null;
check_same('Latch\Semaphore\Exception\SemaphoreExpiredException: The semaphore "t" has expired: a test.', outcome(fn () => $semaphore->refresh()), 'a logger during a refresh');

/* Two operations at a time. */
pcntl_async_signals(true);
$server = new RedisServer();
$holder = redis_semaphore($server, 1);
check($holder->acquire(), 'all permits are held');
$waiter = redis_semaphore($server, 1);
$said = null;
pcntl_signal(SIGALRM, function () use ($waiter, $holder, &$said) {
    $said = outcome(fn () => $waiter->acquire());
    $holder->release();
});
pcntl_alarm(1);
check($waiter->acquire(true, 30), 'the wait goes on');
check_same('Latch\Semaphore\Exception\RuntimeException: Failed to acquire the "s" semaphore: another operation on this semaphore has not ended yet.', $said,
    'a second operation');
$waiter->release();
echo "done\n";
--EXPECT--
done
