<?php

declare(strict_types=1);

namespace Latch\Tests\Support\CallOrder;

use Latch\Key;
use Latch\Tests\Support\RecordingLogger;
use Latch\Tests\Support\Subject;

/**
 * Writes down, in order, what a lock calls (its store, its logger) and what it answers, in words that
 * are the same for Latch and for Symfony; and plays the scenario's fault when its time comes.
 */
final class Transcript
{
    /** @var list<string> */
    public array $lines = [];

    /** Whether the fault was played. */
    public bool $struck = false;

    public readonly RecordingLogger $logger;

    /** @var array<string, int> */
    private array $calls = [];

    public function __construct(
        private ?Key $key,
        private readonly ?Fault $fault,
    ) {
        $this->logger = new RecordingLogger();
        $this->logger->listener = function (string $level, string $message, array $context): void {
            // An exception that was kept would keep, by its trace, the lock alive.
            $this->logger->records = [];
            $this->lines[] = sprintf('  log %s: %s %s', $level, $message, $this->show($context));
            $this->play('log');
        };
    }

    /**
     * To be called by each method of a store.
     *
     * @return bool whether the answer of exists() is to be turned round
     */
    public function called(string $method, mixed ...$arguments): bool
    {
        $this->lines[] = sprintf('  store %s%s', $method, $this->show($arguments));

        return $this->play($method);
    }

    /**
     * Runs one step of the scenario and writes down how it ended.
     */
    public function step(string $name, \Closure $step): void
    {
        $this->lines[] = $name;
        try {
            $outcome = 'returns ' . $this->show($step());
        } catch (\Throwable $e) {
            $outcome = 'throws ' . $this->show($e);
        }
        $left = $this->key->getRemainingLifetime();
        $this->lines[] = sprintf(
            '  %s; the key expires %s',
            $outcome,
            $left === null ? 'never' : ($this->key->isExpired() ? 'in the past' : 'in ' . ceil($left) . ' s'),
        );
    }

    /**
     * Ends the writing and lets go of everything, so that the key, and what it holds, is freed at once
     * and not when the garbage collector breaks the cycle.
     */
    public function finish(): void
    {
        $this->logger->listener = null;
        $this->key = null;
    }

    private function play(string $method): bool
    {
        $this->calls[$method] = ($this->calls[$method] ?? 0) + 1;
        if ($this->fault?->method !== $method || $this->fault->nth !== $this->calls[$method]) {
            return false;
        }
        $this->struck = true;

        return $this->fault->strike($this->key);
    }

    private function show(mixed $value): string
    {
        if (\is_array($value)) {
            $parts = [];
            foreach ($value as $name => $part) {
                $parts[] = (\is_int($name) ? '' : "$name: ") . $this->show($part);
            }

            return '(' . implode(', ', $parts) . ')';
        }
        if ($value instanceof \Throwable) {
            $shown = sprintf('%s "%s" %d', $value::class, Subject::symfonysWords($value), $value->getCode());

            return Subject::plain($shown)
                . ($value->getPrevious() ? ' after ' . $this->show($value->getPrevious()) : '');
        }
        if (\is_object($value)) {
            return $value === $this->key ? 'key' : Subject::plain($value::class);
        }

        return var_export($value, true);
    }
}
