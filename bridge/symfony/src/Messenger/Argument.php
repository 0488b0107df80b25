<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger;

/**
 * Checks of the arguments of rules.
 *
 * @internal
 */
final class Argument
{
    public static function key(object $rule, string $key): void
    {
        if ($key === '') {
            throw self::invalid($rule, 'key', 'must not be empty');
        }
    }

    public static function positive(object $rule, string $name, int|float|null $value): void
    {
        if ($value !== null && !($value > 0 && is_finite((float) $value))) {
            throw self::invalid($rule, $name, "must be a finite number above 0, $value is not");
        }
    }

    public static function wait(object $rule, bool|float $value): void
    {
        if (\is_float($value)) {
            self::positive($rule, 'wait', $value);
        }
    }

    public static function onConflict(object $rule, OnConflict|string $value): OnConflict
    {
        return $value instanceof OnConflict ? $value : OnConflict::from(self::oneOf(
            $rule,
            'onConflict',
            $value,
            array_column(OnConflict::cases(), 'value'),
        ));
    }

    /**
     * @param list<string> $known
     */
    public static function oneOf(object $rule, string $name, string $value, array $known): string
    {
        if (!\in_array($value, $known, true)) {
            throw self::invalid($rule, $name, \sprintf('must be one of "%s"; "%s" is not', implode('", "', $known), $value));
        }

        return $value;
    }

    public static function invalid(object $rule, string $name, string $reason): \InvalidArgumentException
    {
        return new \InvalidArgumentException(\sprintf('#[%s]: $%s %s.', (new \ReflectionClass($rule))->getShortName(), $name, $reason));
    }
}
