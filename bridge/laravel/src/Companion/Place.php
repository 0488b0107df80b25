<?php

declare(strict_types=1);

namespace Latch\Laravel\Companion;

use Latch\Exception\ExceptionInterface as LockException;
use Latch\Lock;
use Psr\Log\LoggerInterface;

/**
 * Where companion locks are.
 *
 * @internal
 */
abstract class Place
{
    /** Seconds after an error in which the place is avoided where there is another one. */
    private const RECOVERY = 60;

    private bool $isReported = false;
    private int $avoidedUntilNs = 0;

    /**
     * @param string                      $description for the log
     * @param \Closure(): LoggerInterface $logger
     */
    public function __construct(private readonly string $description, private readonly \Closure $logger)
    {
    }

    /**
     * @throws LockException
     */
    abstract public function hold(string $name): Lock;

    /**
     * @throws LockException
     */
    abstract public function queue(string $name): Lock;

    /** Logs the first error of this process. */
    public function report(LockException $e): void
    {
        $this->avoidedUntilNs = hrtime(true) + self::RECOVERY * 1_000_000_000;
        if (!$this->isReported) {
            $this->isReported = true;
            ($this->logger)()->warning(
                "Latch: cache locks have no queue in $this->description, so waiters poll: {$e->getMessage()}",
                ['exception' => $e],
            );
        }
    }

    public function isAvoided(): bool
    {
        return hrtime(true) < $this->avoidedUntilNs;
    }
}
