<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

/**
 * What is contended for beside plain locks; the values are the options' and the workers' kinds. A further one needs a
 * case here, the calls of its workers (Worker\...Calls) and a check of them (Check\Calls\...).
 */
enum Primitive: string
{
    case Semaphore = 'semaphore';
    case KeptSemaphore = 'kept-semaphore';
    case MultiLock = 'multi-lock';
    case Version = 'version';
    case Throttle = 'throttle';
    case CountDown = 'count-down';
    case Sequence = 'sequence';
    case Debounce = 'debounce';

    /** Whether its workers record calls, which are no holds. */
    public function isCalled(): bool
    {
        return match ($this) {
            self::Version, self::Throttle, self::CountDown, self::Sequence, self::Debounce => true,
            default => false,
        };
    }

    /** @return array<string, int> so many workers of each kind */
    public function kinds(Options $options): array
    {
        return match ($this) {
            self::Semaphore => [self::Semaphore->value => $options->workers, self::KeptSemaphore->value => $options->keepers],
            self::MultiLock => [self::MultiLock->value => $options->workers, 'latch' => $options->latch],
            default => [$this->value => $options->workers],
        };
    }
}
