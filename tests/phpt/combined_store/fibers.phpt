--TEST--
A member may suspend its fiber in any method; what others do meanwhile is none of its business
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, InMemoryStore};
use Latch\Strategy\{ConsensusStrategy, UnanimousStrategy};

foreach (['save', 'exists', 'delete', 'putOffExpiration'] as $step) {
    foreach (['resume', 'throw', 'throw an error', 'destroy'] as $end) {
        $member = new RecordingStore(temporary_directory());
        $native = [new InMemoryStore(), new InMemoryStore()];
        $store = new CombinedStore([$native[0], $member, $native[1]], new UnanimousStrategy());
        $suspends = true;
        $member->before = function (string $call) use ($step, &$suspends) {
            if ($call === $step && $suspends && Fiber::getCurrent() !== null) {
                Fiber::suspend();
            }
        };
        $fiber = new Fiber(function () use ($store) {
            $lock = new Lock(new Key('a'), $store, 60);
            $lock->acquire();
            $lock->isAcquired();
            $lock->release();
        });
        $fiber->start();
        $between = new Lock(new Key('between'), $store, 60);
        try {
            for ($i = 0; $i < 20 && !$fiber->isTerminated() && $end !== 'destroy'; $i++) {
                check($between->acquire() && $between->isAcquired(), "$step, $end: others go on");
                $between->release();
                match ($end) {
                    'resume' => $fiber->resume(),
                    'throw' => $fiber->throw(new DomainException('thrown into the fiber')),
                    'throw an error' => $fiber->throw(new TypeError('thrown into the fiber')),
                };
            }
        } catch (Throwable $e) {
            check(str_starts_with($end, 'throw'), "$step, $end: nothing is thrown");
            unset($e);
        }
        $suspends = false;
        unset($fiber);
        gc_collect_cycles();
        $member->before = null;
        if ($step === 'exists' && $end === 'throw an error') {
            continue; // nobody could tell the destructor whether there was anything to release
        }
        foreach ($native as $at => $other) {
            check((new Lock(new Key('a'), $other))->acquire(), "$step, $end: member $at is free in the end");
        }
    }
}

/* Two fibers in turn, for one lock and for two. */
foreach ([['a', 'a'], ['b', 'c']] as $resources) {
    $member = new RecordingStore(temporary_directory());
    $store = new CombinedStore([new InMemoryStore(), $member, new InMemoryStore()], new ConsensusStrategy());
    $member->before = fn (string $call) => $call === 'save' ? Fiber::suspend() : null;
    $log = $fibers = $locks = [];
    foreach ($resources as $resource) {
        $locks[] = $lock = new Lock(new Key($resource), $store, 60);
        $fibers[] = $fiber = new Fiber(function () use ($lock, &$log) {
            $log[] = $lock->acquire();
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
    $expected = $resources === ['a', 'a'] ? 1 : 2;
    check_same($expected, count(array_filter($log)), implode(' and ', $resources));
    unset($locks, $lock, $fibers, $fiber);
}
echo "done\n";
--EXPECT--
done
