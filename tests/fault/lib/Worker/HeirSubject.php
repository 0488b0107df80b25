<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Worker;

use Latch\Key as LatchKey;
use Latch\Tests\Fault\Record\Teller;
use Symfony\Component\Lock\Key as SymfonyKey;

/**
 * Locks in a table that one implementation takes and another one goes on with, by the serialized key: Symfony's
 * PdoStore and the extension, which are both in this process under their own names.
 */
final class HeirSubject implements Subject
{
    private readonly TableSubject $latch;
    private readonly SymfonyTableSubject $symfony;

    public function __construct(TablePlace $place)
    {
        $this->latch = new TableSubject($place);
        $this->symfony = new SymfonyTableSubject($place);
    }

    public function traits(): array
    {
        // A lock whose time is over before it has been handed over is refused.
        $traits = array_unique([...$this->latch->traits(), ...$this->symfony->traits(), Teller::SINGLY]);

        // Every other one of its locks is waited for as by Symfony.
        return array_values(array_diff($traits, [Teller::FIRST_COME, Teller::ASKS_AGAIN]));
    }

    public function lock(string $resource, float $ttl, bool $autoRelease): Handle
    {
        if (random_int(0, 1) === 0) {
            $key = new LatchKey($resource);
            $first = $this->latch->lockOf($key, $ttl, false);
            $inherit = fn (): Handle => $this->symfony->lockOf(
                self::renamed($key, LatchKey::class, SymfonyKey::class),
                $ttl,
                false,
            );
        } else {
            $key = new SymfonyKey($resource);
            $first = $this->symfony->lockOf($key, $ttl, false);
            $inherit = fn (): Handle => $this->latch->lockOf(
                self::renamed($key, SymfonyKey::class, LatchKey::class),
                $ttl,
                false,
            );
        }

        return new HandedOverHandle($first, $inherit, $autoRelease);
    }

    public function recover(): void
    {
        $this->latch->recover();
        $this->symfony->recover();
    }

    /**
     * The key as the other implementation has it, which is what another process gets.
     *
     * @template K of object
     *
     * @param class-string    $from
     * @param class-string<K> $to
     *
     * @return K
     */
    private static function renamed(object $key, string $from, string $to): object
    {
        $name = static fn (string $class): string => sprintf('O:%d:"%s"', \strlen($class), $class);
        $heir = unserialize(str_replace($name($from), $name($to), serialize($key)));

        return $heir instanceof $to ? $heir : throw new \LogicException('A key that nobody can take over');
    }
}
