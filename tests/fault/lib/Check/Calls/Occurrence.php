<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Check\Calls;

/**
 * One occurrence of a debounce, and what is known of it in one era. Times are those of the workers, but for the token.
 */
final class Occurrence
{
    /** From when until when it was registered, so that it is not known better when it was. */
    public int $began = \PHP_INT_MIN;
    public int $ended = \PHP_INT_MAX;

    /** From when on it may count; and by when it was known to be sent. */
    public int $mayCount = \PHP_INT_MAX;
    public int $isSent = \PHP_INT_MAX;

    /** When it was told to go, when somebody began to say that it is done, and when that was so for certain. */
    public int $went = \PHP_INT_MAX;
    public int $mayBeDone = \PHP_INT_MAX;
    public int $isDone = \PHP_INT_MAX;

    /** Whether it was said to be done before anybody had done it. */
    public bool $isReplaced = false;

    /** @param int $token in ns of the server's clock */
    public function __construct(public readonly int $token)
    {
    }
}
