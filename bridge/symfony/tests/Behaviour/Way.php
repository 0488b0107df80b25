<?php

declare(strict_types=1);

namespace Latch\Symfony\Tests\Behaviour;

/**
 * On what a scenario runs: the transports (Doctrine's is in SQLite or in PostgreSQL), their serializer, and whether the
 * extension has Symfony's names.
 * LATCH_SYMFONY_WAY chooses another one than the default for a whole run, such as "doctrine,json,drop-in".
 */
final class Way
{
    private function __construct(
        public readonly string $transport,
        public readonly string $serializer,
        public readonly bool $dropIn,
    ) {
    }

    public static function chosen(): self
    {
        $parts = explode(',', getenv('LATCH_SYMFONY_WAY') ?: 'redis,php,names');
        $known = [['redis', 'doctrine', 'postgresql', 'amqp'], ['php', 'json'], ['names', 'drop-in']];
        foreach ($known as $place => $values) {
            if (!\in_array($parts[$place] ?? '', $values, true)) {
                throw new \InvalidArgumentException('LATCH_SYMFONY_WAY: one of ' . implode(', ', $values)
                    . ' is expected in place ' . ($place + 1) . ' of "' . implode(',', $parts) . '"');
            }
        }

        return new self($parts[0], $parts[1], $parts[2] === 'drop-in');
    }
}
