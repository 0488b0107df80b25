--TEST--
A logger may throw, replace itself, use the lock and drop the last reference
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';
require __DIR__ . '/../../utils/phpt_logger.inc';

use Latch\{Key, Lock};
use Latch\Exception\ExceptionInterface;
use Latch\Store\{FlockStore, InMemoryStore, SemaphoreStore};

class SelfReplacing extends Logger
{
    public ?Lock $lock = null;
    private string $text = 'intact';

    public function debug(string|Stringable $message, array $context = []): void
    {
        $this->lock?->setLogger(new Logger());
        $this->lock = null;
        gc_collect_cycles();
        $this->text .= ' ' . str_repeat('x', 3);
        check_same('intact xxx', $this->text, 'the logger during its own call');
    }
}

$directory = temporary_directory();
$stores = ['flock' => new FlockStore($directory), 'memory' => new InMemoryStore(), 'PHP' => new RecordingStore($directory)];
foreach ($stores as $name => $store) {
    $lock = new Lock(new Key('a'), $store, 60);
    $logger = new SelfReplacing();
    $logger->lock = $lock;
    $lock->setLogger($logger);
    unset($logger);
    check($lock->acquire(), "$name: acquired");
    $lock->release();

    /* A logger that throws, at each line of each call. */
    foreach ([new Exception('logged'), new Error('logged'), new Latch\Exception\LockConflictedException('logged'),
        new Latch\Exception\LockReleasingException('logged')] as $thrown) {
        foreach (['debug', 'info', 'notice'] as $level) {
            $key = new Key('b');
            $lock = new Lock($key, $store, 60);
            $logger = new Logger();
            $lock->setLogger($logger);
            $logger->on_line = function (string $at) use ($thrown, $level) {
                if ($at === $level) {
                    throw $thrown;
                }
            };
            foreach ([
                fn () => $lock->acquire(),
                fn () => $lock->refresh(),
                fn () => $lock->release(),
                fn () => $lock->acquireRead(),
                fn () => $lock->synchronized(fn () => null),
            ] as $at => $call) {
                try {
                    $call();
                } catch (Throwable $e) {
                    $first = $e;
                    while ($first->getPrevious() !== null) {
                        $first = $first->getPrevious();
                    }
                    check_same('logged', $first->getMessage(), "$name, $level, call $at");
                }
            }
            $logger->on_line = null;
            unset($lock, $call, $e, $first);
            check((new Lock(new Key('b'), $store))->acquire(), "$name, $level: free when the lock object is gone");
        }
    }

    /* One that uses the lock again. */
    $lock = new Lock(new Key('c'), $store, 60);
    $logger = new Logger();
    $lock->setLogger($logger);
    $depth = 0;
    $logger->on_line = function () use ($lock, &$depth) {
        if ($depth++ < 20) {
            try {
                $depth % 2 ? $lock->release() : $lock->acquire();
            } catch (ExceptionInterface) {
            }
        }
    };
    try {
        $lock->acquire();
    } catch (ExceptionInterface) {
    }
    $logger->on_line = null;
    $lock->acquire();
    $lock->release();
    check((new Lock(new Key('c'), $store))->acquire(), "$name: free after all that");
}

/* What a logger throws is no reason of Latch's: nothing of its message comes into another one. */
$lock = new Lock(new Key('d' . getmypid()), new SemaphoreStore());
$lock->setLogger($logger = new Logger());
$logger->on_line = fn (string $level) => $level === 'debug' && throw new Exception('cannot log to tcp://user:secret@host');
try {
    $lock->acquireRead();
    check(false, 'the logger has thrown');
} catch (Latch\Exception\LockAcquiringException $e) {
    check_same('Failed to acquire the "d' . getmypid() . '" lock.', $e->getMessage(), 'the message');
}
echo "done\n";
--EXPECT--
done
