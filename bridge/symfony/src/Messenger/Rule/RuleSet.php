<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Rule;

use Latch\Symfony\Messenger\Rule;

/**
 * The rules of a message.
 *
 * @internal
 */
final class RuleSet
{
    /**
     * @param array<class-string<Rule>, list<Rule>> $byClass
     */
    public function __construct(private readonly array $byClass)
    {
    }

    /**
     * @return list<Rule>
     */
    public function list(): array
    {
        return array_merge(...array_values($this->byClass));
    }

    public function isEmpty(): bool
    {
        return $this->byClass === [];
    }

    /**
     * @param list<class-string<Rule>> $classes
     */
    public function hasAny(array $classes): bool
    {
        foreach ($classes as $class) {
            if (isset($this->byClass[$class])) {
                return true;
            }
        }

        return false;
    }

    /**
     * @template R of Rule
     *
     * @param class-string<R> $class
     *
     * @return list<R>
     */
    public function all(string $class): array
    {
        /** @var list<R> */
        return $this->byClass[$class] ?? [];
    }

    /**
     * @template R of Rule
     *
     * @param class-string<R> $class
     *
     * @return R|null
     */
    public function one(string $class): ?Rule
    {
        return $this->all($class)[0] ?? null;
    }

    /**
     * @param array<class-string<Rule>, list<Rule>> $byClass these take the place of those of the same classes
     */
    public function with(array $byClass): self
    {
        return $byClass === [] ? $this : new self([...$this->byClass, ...$byClass]);
    }
}
