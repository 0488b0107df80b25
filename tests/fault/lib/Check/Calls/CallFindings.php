<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

use Latch\Tests\Fault\Check\Kind;
use Latch\Tests\Fault\Check\Tally;
use Latch\Tests\Fault\Check\Violation;
use Latch\Tests\Fault\Record\CallHistory;

/**
 * All that is wrong in a history of calls.
 */
final class CallFindings extends Tally
{
    public function __construct(CallHistory $history)
    {
        $check = [
            'version' => new VersionCheck(),
            'throttle' => new ThrottleCheck(),
            'count-down' => new CountDownCheck(),
            'sequence' => new SequenceCheck(),
            'debounce' => new DebounceCheck(),
        ][$history->workers[0]->kind ?? ''] ?? throw new \UnexpectedValueException('no calls that can be checked');
        foreach ($history->eras as $eras) {
            foreach ($eras as $calls) {
                $this->collect($check->violations($calls, $history));
            }
        }
        foreach ($history->faults->crashes as $name => $how) {
            $this->collect([new Violation(Kind::Crash, "$name: $how")]);
        }
        foreach ($history->leftovers->keys as $key => $ttl) {
            if ($ttl < 0) {
                $this->collect([new Violation(Kind::Left, "the key $key for ever")]);
            }
        }
    }
}
