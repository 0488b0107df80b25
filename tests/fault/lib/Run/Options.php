<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Run;

use Latch\Tests\Fault\Broken\Breakage;

/**
 * What a run is to be like.
 */
final class Options
{
    public int $acquisitions = 10_000;
    public int $seed;
    public int $latch = 6;
    public int $symfony = 4;
    public ?Breakage $broken = null;
    /** How many workers are on the broken store. */
    public int $breakers = 4;
    /** @var 'redis'|'flock' */
    public string $store = 'redis';
    public int $resources = 8;
    /** Seconds after which the run is given up. */
    public int $limit = 300;
    public bool $faults = true;
    /** A folder for the records that is kept. */
    public ?string $keep = null;

    public function __construct()
    {
        $this->seed = random_int(1, 999_999_999);
    }

    /**
     * @param list<string> $arguments
     */
    public static function of(array $arguments): self
    {
        $options = new self();
        $given = [];
        foreach ($arguments as $argument) {
            if (preg_match('/^--(?:(no-faults)|(\w+)=(.+))$/', $argument, $match) !== 1) {
                throw new \InvalidArgumentException("unknown argument '$argument'");
            }
            [$name, $value] = [$match[2] ?? $match[1], $match[3] ?? ''];
            $given[$name] = true;
            match ($name) {
                'acquisitions', 'seed', 'resources', 'limit' => $options->$name = self::number($argument, $value, 1),
                'latch', 'symfony' => $options->$name = self::number($argument, $value, 0),
                'store' => $options->store = \in_array($value, ['redis', 'flock'], true)
                    ? $value
                    : throw new \InvalidArgumentException("--store takes redis or flock, not '$value'"),
                'broken' => $options->broken = Breakage::tryFrom($value)
                    ?? throw new \InvalidArgumentException("--broken knows no '$value'"),
                'keep' => $options->keep = is_dir($value) && \count((array) scandir($value)) === 2
                    ? $value
                    : throw new \InvalidArgumentException("no empty folder '$value'"),
                'no-faults' => $options->faults = false,
                default => throw new \InvalidArgumentException("unknown argument '$argument'"),
            };
        }
        if ($options->broken !== null) {
            // What is broken is by itself, unless others are asked for.
            $options->latch = isset($given['latch']) ? $options->latch : 0;
            $options->symfony = isset($given['symfony']) ? $options->symfony : 0;
        }
        if ($options->latch + $options->symfony === 0 && $options->broken === null) {
            throw new \InvalidArgumentException('no workers');
        }

        return $options;
    }

    /** @return array<string, int> how many workers of each kind */
    public function kinds(): array
    {
        return array_filter([
            'latch' => $this->latch,
            'symfony' => $this->symfony,
            (string) $this->broken?->value => $this->broken === null ? 0 : $this->breakers,
        ]);
    }

    private static function number(string $argument, string $value, int $least): int
    {
        if (!ctype_digit($value) || \strlen($value) > 9 || (int) $value < $least) {
            throw new \InvalidArgumentException("'$argument' is no whole number from $least on");
        }

        return (int) $value;
    }
}
