<?php

declare(strict_types=1);

namespace Latch\Tests\Fault\Broken;

/**
 * Holders and waiters, in a file for each resource that all processes share.
 *
 * @phpstan-type State array{holders: array<string, int>, writer: ?string, fencing: int, queue: list<string>,
 *                           told: array<string, int>}
 */
final class Table
{
    /** The file has always this size, so that a process that is killed leaves no half of it. */
    private const SIZE = 4096;

    public function __construct(private readonly string $directory)
    {
    }

    /**
     * @template T
     *
     * @param \Closure(State&, int): T $change gets the state without those that have expired, and the time
     *
     * @return T
     */
    public function change(string $resource, \Closure $change): mixed
    {
        $stream = fopen("$this->directory/$resource", 'c+');
        if ($stream === false || !flock($stream, LOCK_EX)) {
            throw new \RuntimeException("Cannot lock the table of $resource");
        }
        try {
            $text = trim((string) stream_get_contents($stream));
            /** @var State $state */
            $state = $text === ''
                ? ['holders' => [], 'writer' => null, 'fencing' => 0, 'queue' => [], 'told' => []]
                : json_decode($text, true, 8, JSON_THROW_ON_ERROR);
            $now = hrtime(true);
            $state['holders'] = array_filter($state['holders'], static fn (int $expiry): bool => $expiry > $now);
            if (!isset($state['holders'][$state['writer'] ?? ''])) {
                $state['writer'] = null;
            }
            $result = $change($state, $now);
            rewind($stream);
            fwrite($stream, str_pad(json_encode($state, JSON_THROW_ON_ERROR), self::SIZE));

            return $result;
        } finally {
            fclose($stream);
        }
    }

    /** @return list<string> waiters, each behind its mode: w or r */
    public function queued(string $resource): array
    {
        return $this->change($resource, static fn (array $state): array => $state['queue']);
    }
}
