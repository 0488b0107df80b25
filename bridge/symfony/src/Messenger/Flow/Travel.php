<?php

declare(strict_types=1);

namespace Latch\Symfony\Messenger\Flow;

use Latch\Symfony\Messenger\LatchStamp;
use Symfony\Component\Messenger\Envelope;

/**
 * What travels with a message, by the name of its rule.
 *
 * @internal
 */
final class Travel
{
    /**
     * @param array<string, array<mixed>> $data
     */
    private function __construct(private array $data)
    {
    }

    public static function none(): self
    {
        return new self([]);
    }

    /**
     * @throws \JsonException
     */
    public static function of(Envelope $envelope): self
    {
        $stamp = $envelope->last(LatchStamp::class);
        $data = $stamp === null ? [] : json_decode($stamp->data, true, 16, \JSON_THROW_ON_ERROR);

        return new self(\is_array($data) ? $data : throw new \JsonException('The LatchStamp has no object.'));
    }

    public function isEmpty(): bool
    {
        return $this->data === [];
    }

    /**
     * @return array<mixed>|null
     */
    public function get(string $name): ?array
    {
        return $this->data[$name] ?? null;
    }

    /**
     * @param array<mixed>|null $value scalars and lists of them, in UTF-8
     */
    public function set(string $name, ?array $value): void
    {
        if ($value === null) {
            unset($this->data[$name]);
        } else {
            $this->data[$name] = $value;
        }
    }

    /**
     * In the place of what travels with it. An empty stamp takes the place of another one, as AMQP's sender adds the
     * headers that a message was received with, its stamps, wherever there is none of the class.
     */
    public function onto(Envelope $envelope): Envelope
    {
        $had = $envelope->last(LatchStamp::class) !== null;

        return $this->data === [] && !$had ? $envelope : $envelope->withoutAll(LatchStamp::class)->with($this->stamp());
    }

    public function stamp(): LatchStamp
    {
        return new LatchStamp(json_encode(
            (object) $this->data,
            \JSON_THROW_ON_ERROR | \JSON_PRESERVE_ZERO_FRACTION | \JSON_UNESCAPED_SLASHES | \JSON_UNESCAPED_UNICODE,
        ));
    }
}
