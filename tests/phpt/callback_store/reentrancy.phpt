--TEST--
A store's methods may use the lock, suspend a fiber, or drop everything
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};

class Holder
{
    public static mixed $lock = null;
}

$store = new RecordingStore(temporary_directory());
$depth = 0;
foreach (['save', 'exists', 'delete', 'putOffExpiration'] as $step) {
    foreach (['acquire', 'release', 'isAcquired', 'refresh', 'acquireRead'] as $method) {
        $lock = new Lock($key = new Key("$step $method"), $store, 60);
        $depth = 0;
        $store->before = function (string $call) use ($lock, $step, $method, &$depth) {
            if ($call === $step && $depth++ < 3) {
                $lock->$method();
            }
        };
        outcome(fn () => $lock->acquire());
        outcome(fn () => $lock->refresh());
        outcome(fn () => $lock->isAcquired());
        outcome(fn () => $lock->release());
        $store->before = null;
        unset($lock);
        check((new Lock(new Key("$step $method"), $store))->acquire(), "$step, $method: free in the end");
    }
}

/* The last reference to the lock, and to its store, goes while the store is being called. */
foreach (['save', 'exists', 'delete', 'putOffExpiration'] as $step) {
    $own = new RecordingStore(temporary_directory());
    Holder::$lock = new Lock(new Key('a'), $own, 60);
    $own->before = function (string $call) use ($step) {
        if ($call === $step) {
            Holder::$lock = null;
            gc_collect_cycles();
        }
    };
    $directory = $own->directory;
    unset($own);
    outcome(fn () => Holder::$lock?->acquire());
    outcome(fn () => Holder::$lock?->release());
    Holder::$lock = null;
    check((new Lock(new Key('a'), new RecordingStore($directory)))->acquire(), "$step: free when all is gone");
}

/* A fiber suspended inside each step, resumed or destroyed. */
foreach (['save', 'exists', 'delete', 'putOffExpiration'] as $step) {
    foreach (['resume', 'throw', 'destroy'] as $end) {
        $own = new RecordingStore(temporary_directory());
        $own->before = function (string $call) use ($step) {
            if ($call === $step && Fiber::getCurrent() !== null) {
                Fiber::suspend();
            }
        };
        $fiber = new Fiber(function () use ($own) {
            $lock = new Lock(new Key('a'), $own, 60);
            $lock->acquire();
            $lock->release();
        });
        $fiber->start();
        try {
            for ($i = 0; $i < 20 && !$fiber->isTerminated() && $end !== 'destroy'; $i++) {
                $end === 'resume' ? $fiber->resume() : $fiber->throw(new DomainException('thrown into the fiber'));
            }
        } catch (Throwable) {
        }
        try {
            unset($fiber);
            gc_collect_cycles();
        } catch (FiberError) {
            // of the store, which suspends while its fiber is being destroyed
        }
        $own->before = null;
        $key = new Key('a');
        check((new Lock($key, $own))->acquire() || $step === 'delete', "$step, $end: free in the end");
    }
}

/* Two fibers in turn. */
$own = new RecordingStore(temporary_directory());
$own->before = fn (string $call) => $call === 'save' ? Fiber::suspend() : null;
$log = [];
$fibers = [];
foreach (['one', 'two'] as $name) {
    $locks[] = $lock = new Lock(new Key('a'), $own, 60);
    $fibers[] = $fiber = new Fiber(function () use ($lock, $name, &$log) {
        $got = $lock->acquire();
        $log[] = "$name " . ($got ? 'got it' : 'did not');
    });
    $fiber->start();
}
while (array_filter($fibers, fn (Fiber $fiber) => !$fiber->isTerminated())) {
    foreach ($fibers as $fiber) {
        if ($fiber->isSuspended()) {
            $fiber->resume();
        }
    }
}
sort($log);
check_same(['one got it', 'two did not'], $log, 'two fibers');
echo "done\n";
--EXPECT--
done
