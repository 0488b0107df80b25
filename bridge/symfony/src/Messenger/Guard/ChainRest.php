<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Latch\Symfony\Messenger\Rule;

/**
 * What comes after the next message of a chain.
 *
 * @internal
 */
final class ChainRest implements Rule
{
    /**
     * @param list<string> $payloads of Payloads
     */
    public function __construct(public readonly array $payloads)
    {
    }
}
