<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Store\RedisStore;
use Latch\SyncFactory;
use Latch\Tests\Fault\Record\CallWriter;
use Latch\Tests\Fault\Run\Primitive;
use Random\Engine\Mt19937;
use Random\Randomizer;

/**
 * A worker whose records are calls.
 */
final class Caller
{
    /** Before so many of 1000 steps it forks. */
    private const FORKS = 2;

    private readonly Calls $calls;
    private readonly Randomizer $chance;

    /** @param list<string> $resources */
    public function __construct(
        Primitive $primitive,
        private readonly CallWriter $records,
        string $where,
        array $resources,
        int $seed,
        string $directory,
    ) {
        $this->chance = new Randomizer(new Mt19937($seed));
        $sync = new SyncFactory(new RedisStore($where));
        $this->calls = match ($primitive) {
            Primitive::Version => new VersionCalls($sync, $records, $resources, $this->chance),
            Primitive::Throttle => new ThrottleCalls($sync, $records, $resources, $this->chance),
            Primitive::CountDown => new CountDownCalls($sync, $records, $resources, $this->chance, $directory),
            Primitive::Sequence => new SequenceCalls($sync, $records, $resources, $this->chance, $directory),
            Primitive::Debounce => new DebounceCalls($sync, $records, $resources, $this->chance, $directory),
            default => throw new \LogicException("Nothing is called of a $primitive->value"),
        };
        $records->introduce($primitive->value);
    }

    /** Until SIGTERM comes, which is blocked and does not interrupt anything. */
    public function run(): void
    {
        while (pcntl_sigtimedwait([SIGTERM], $info, 0, 0) !== SIGTERM) {
            if ($this->chance->getInt(1, 1000) <= self::FORKS) {
                Fork::exitInChild();
                $this->records->note('fork');
            }
            $this->calls->step();
            if ($this->chance->getInt(1, 100) <= 20) {
                usleep($this->chance->getInt(1, 500));
            }
        }
        $this->end();
    }

    public function end(): void
    {
        $this->records->note('end');
    }
}
