<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check;

use Latch\Tests\Fault\Record\History;
use Latch\Tests\Fault\Record\Teller;

/**
 * What a worker says that it holds must have been granted, and not have been given back, nor have ended with its
 * session.
 */
final class Grants implements Check
{
    public function violations(History $history): iterable
    {
        foreach ($history->unfounded as $unfounded) {
            yield new Violation(
                Kind::NeverGranted,
                sprintf('%s, line %d: "%s"', $unfounded->worker->name, $unfounded->line, $unfounded->record),
                $unfounded->hold,
            );
        }
        foreach ($history->holds as $holds) {
            foreach ($holds as $hold) {
                if ($hold->outlivesSession && $hold->worker->has(Teller::NOTICES)) {
                    yield new Violation(Kind::NeverGranted, 'certain after the end of its session', $hold);
                }
            }
        }
    }
}
