<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Rule;

use Latch\Symfony\Messenger\Bounded;
use Latch\Symfony\Messenger\Debounce;
use Latch\Symfony\Messenger\Guard\AfterParts;
use Latch\Symfony\Messenger\IfNewer;
use Latch\Symfony\Messenger\Limit;
use Latch\Symfony\Messenger\Lock;
use Latch\Symfony\Messenger\Once;
use Latch\Symfony\Messenger\Ordered;
use Latch\Symfony\Messenger\Rule;
use Latch\Symfony\Messenger\Throttle;

/**
 * Rules as names and arguments: in JSON, and in the configuration. Their names last, as they travel.
 *
 * @internal
 */
final class RuleCodec
{
    public const NAMES = [
        'lock' => Lock::class,
        'limit' => Limit::class,
        'throttle' => Throttle::class,
        'once' => Once::class,
        'if_newer' => IfNewer::class,
        'debounce' => Debounce::class,
        'ordered' => Ordered::class,
        'bounded' => Bounded::class,
    ];

    /** Those that nobody writes. */
    private const INTERNAL = ['after_parts' => AfterParts::class];

    /**
     * @return array{string, array<string, mixed>}
     *
     * @throws \LogicException when it has objects
     */
    public static function pack(Rule $rule): array
    {
        $name = array_search($rule::class, self::NAMES + self::INTERNAL, true);
        if ($name === false) {
            throw new \LogicException(\sprintf('A stamp %s cannot travel within another message.', $rule::class));
        }

        return [$name, get_object_vars($rule)];
    }

    /**
     * @param array<string, mixed> $arguments
     */
    public static function unpack(string $name, array $arguments): Rule
    {
        $class = (self::NAMES + self::INTERNAL)[$name] ?? throw new \LogicException("A message has a rule \"$name\", which this release does not know.");

        return new $class(...$arguments);
    }
}
