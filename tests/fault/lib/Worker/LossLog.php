<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Psr\Log\AbstractLogger;

/**
 * Why a lock was lost.
 */
final class LossLog extends AbstractLogger
{
    public string $reason = '-';

    public function log(mixed $level, string|\Stringable $message, array $context = []): void
    {
        if (\is_string($context['reason'] ?? null)) {
            $this->reason = $context['reason'];
        }
    }
}
