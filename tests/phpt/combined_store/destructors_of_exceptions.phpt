--TEST--
What the exceptions of members hold on to may run code when it goes, while the members are asked
--FILE--
<?php
require __DIR__ . '/../../utils/phpt.inc';
require __DIR__ . '/../../utils/phpt_stores.inc';

use Latch\{Key, Lock};
use Latch\Store\{CombinedStore, FlockStore, InMemoryStore};
use Latch\Strategy\UnanimousStrategy;

class Ending
{
    public static int $count = 0;
    public static ?Closure $at = null;

    public function __construct(public mixed $held)
    {
    }

    public function __destruct()
    {
        self::$count++;
        (self::$at)();
    }
}

class EndingException extends Exception
{
    public mixed $ending;
}

/* Fails whenever it is asked, by something with a destructor. */
class EndingStore extends RecordingStore
{
    private function fail(Key $key): void
    {
        $e = new EndingException('always');
        $e->ending = new Ending($key);
        throw $e;
    }

    public function save(Key $key): void
    {
        $this->fail($key);
    }

    public function delete(Key $key): void
    {
        $this->fail($key);
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        throw new class ($key) extends Error {
            public Ending $ending;

            public function __construct(Key $key)
            {
                parent::__construct('an Error');
                $this->ending = new Ending($key);
            }
        };
    }
}

$directory = temporary_directory();
$ends = [
    'nothing' => fn () => null,
    'an exception' => fn () => throw new DomainException('from a destructor'),
    'an Error' => fn () => throw new TypeError('from a destructor'),
    'another lock' => function () {
        $lock = new Lock(new Key('another'), new InMemoryStore(), 60);
        $lock->acquire();
    },
    'the collector' => gc_collect_cycles(...),
];
foreach ($ends as $name => $end) {
    Ending::$at = $end;
    Ending::$count = 0;
    $store = new CombinedStore(
        [new FlockStore($directory), new EndingStore($directory), new EndingStore($directory), new InMemoryStore()],
        new UnanimousStrategy(),
    );
    foreach (['save', 'delete', 'putOffExpiration'] as $method) {
        $key = new Key('a');
        try {
            $method === 'putOffExpiration' ? $store->$method($key, 60) : $store->$method($key);
        } catch (Throwable $e) {
            outcome(function () use (&$e) {
                $e = null;
            });
        }
        check(is_free($directory, 'a'), "$name, $method: nothing stays taken");
    }
    gc_collect_cycles();
    check(Ending::$count >= 5, "$name: all have ended: " . Ending::$count);
    $fine = new Lock(new Key('a'), new CombinedStore([new FlockStore($directory)], new UnanimousStrategy()), 60);
    check($fine->acquire(), "$name: it works still");
    unset($fine);
}
echo "done\n";
--EXPECT--
done
