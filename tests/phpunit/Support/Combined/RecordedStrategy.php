<?php

declare(strict_types=1);

namespace Latch\Tests\Support\Combined;

use Latch\Strategy\StrategyInterface;
use Latch\Tests\Support\CallOrder\Transcript;

/**
 * A strategy of the user's that tells the transcript of each question.
 */
final class RecordedStrategy implements StrategyInterface
{
    /**
     * @param \Closure(int, int): bool $isMet
     * @param \Closure(int, int): bool $canBeMet
     */
    public function __construct(
        private readonly Transcript $transcript,
        private readonly \Closure $isMet,
        private readonly \Closure $canBeMet,
    ) {
    }

    public function isMet(int $numberOfSuccess, int $numberOfItems): bool
    {
        $this->transcript->called('strategy.isMet', $numberOfSuccess, $numberOfItems);

        return ($this->isMet)($numberOfSuccess, $numberOfItems);
    }

    public function canBeMet(int $numberOfFailure, int $numberOfItems): bool
    {
        $this->transcript->called('strategy.canBeMet', $numberOfFailure, $numberOfItems);

        return ($this->canBeMet)($numberOfFailure, $numberOfItems);
    }
}
