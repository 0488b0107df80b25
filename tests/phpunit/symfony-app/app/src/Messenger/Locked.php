<?php

declare(strict_types=1);

namespace App\Messenger;

/**
 * What is locked while a message is handled: as an attribute of its class, or in a stamp.
 */
#[\Attribute(\Attribute::TARGET_CLASS | \Attribute::IS_REPEATABLE)]
final class Locked
{
    /**
     * @param string|null $name     by default the class of the message
     * @param string|null $key      a property of the message: one lock for each of its values
     * @param bool        $read     together with other readers
     * @param float       $ttl      seconds
     * @param bool        $blocking waits for the lock; if not, the message is tried again later
     */
    public function __construct(
        public readonly ?string $name = null,
        public readonly ?string $key = null,
        public readonly bool $read = false,
        public readonly float $ttl = 300.0,
        public readonly bool $blocking = false,
    ) {
    }

    public function resource(object $message): string
    {
        return ($this->name ?? $message::class) . ($this->key === null ? '' : '-' . $message->{$this->key});
    }

    /**
     * @return list<self>
     */
    public static function of(object $message): array
    {
        $attributes = (new \ReflectionClass($message))->getAttributes(self::class);

        return array_map(static fn (\ReflectionAttribute $attribute): self => $attribute->newInstance(), $attributes);
    }
}
