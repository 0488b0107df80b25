<?php

declare(strict_types=1);

namespace Latch\Symfony\Profiler;

use Latch\Symfony\Command\HolderText;
use Psr\Log\AbstractLogger;
use Psr\Log\LoggerInterface;

/**
 * The logger of a factory's locks, in debug mode: reads what they say, which is the same in Symfony and in Latch.
 *
 * @internal
 */
final class TraceLogger extends AbstractLogger
{
    /** Number of holders that a refusal names at most. */
    private const SHOWN = 3;

    /**
     * @param string      $kind  "lock" or "semaphore"
     * @param string      $name  of the store
     * @param object|null $store can it inspect(), then the holders of a lock that is refused are looked up
     */
    public function __construct(
        private readonly LockTrace $trace,
        private readonly string $kind,
        private readonly string $name,
        private readonly ?object $store = null,
        private readonly ?LoggerInterface $logger = null,
    ) {
    }

    /**
     * @param array<mixed> $context
     */
    public function log($level, string|\Stringable $message, array $context = []): void
    {
        $this->logger?->log($level, $message, $context);
        $key = $context['resource'] ?? null;
        if (!\is_object($key)) {
            return;
        }
        $text = (string) $message;
        if (str_starts_with($text, 'Successfully acquired')) {
            $this->trace->acquired($key, $this->kind, $this->name, str_ends_with($text, 'for reading.'));
        } elseif (str_starts_with($text, 'Failed to acquire')) {
            $error = $context['exception'] ?? null;
            $this->trace->refused($key, $this->kind, $this->name, $error instanceof \Throwable ? $error->getMessage() : $this->holders($key), $error !== null);
        } elseif (str_starts_with($text, 'Successfully released')) {
            $this->trace->released($key);
        } elseif (str_starts_with($text, 'Released the') || str_starts_with($text, 'Failed to define') || str_ends_with($text, 'was lost.')) {
            $reason = $context['reason'] ?? '';
            $this->trace->lost($key, \is_string($reason) ? $reason : '');
        }
    }

    private function holders(object $key): string
    {
        if ($this->store === null || !method_exists($this->store, 'inspect')) {
            return '';
        }
        try {
            $found = $this->store->inspect($key);
        } catch (\Throwable) {
            return '';
        }
        $names = array_map(HolderText::name(...), \array_slice($found['holders'], 0, self::SHOWN));
        $more = ($found['holderCount'] ?? \count($found['holders'])) - \count($names);

        return $names === [] ? '' : 'held by ' . implode('; ', $names) . ($more > 0 ? " and $more more" : '');
    }
}
