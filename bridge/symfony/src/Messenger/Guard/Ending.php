<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Guard;

use Psr\Log\LoggerInterface;
use Symfony\Component\Messenger\Envelope;

/**
 * Tells all guards what has become of a message, whatever one of them throws.
 *
 * @internal
 */
final class Ending
{
    /**
     * @param list<Guard> $guards
     */
    public function __construct(private readonly array $guards, private readonly ?LoggerInterface $logger = null)
    {
    }

    /**
     * @param \Closure(Guard): mixed $step
     *
     * @throws \Throwable of a guard that others wait for
     */
    public function tell(Envelope $envelope, \Closure $step): void
    {
        $vital = null;
        foreach ($this->guards as $guard) {
            try {
                $step($guard);
            } catch (\Throwable $e) {
                $vital ??= $guard->isVital() && !self::isForEver($e) ? $e : null;
                $this->logger?->error('A rule of {class} cannot be ended: {error}', [
                    'class' => $envelope->getMessage()::class,
                    'error' => $e->getMessage(),
                    'exception' => $e,
                ]);
            }
        }
        if ($vital !== null) {
            throw $vital;
        }
    }

    /** It would be the same the next time: what is not there any more, or cannot be read. */
    private static function isForEver(\Throwable $e): bool
    {
        return $e instanceof \LogicException || $e instanceof \UnexpectedValueException;
    }
}
